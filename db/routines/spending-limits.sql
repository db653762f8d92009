-- Spending limits (docs/adr/0020-money-reserved-with-the-claim.md). Each `refuse_` function returns no row if the call
-- may be made, or else the limit that the call would exceed. A permitted call holds locks until the commit, which makes
-- its reservation visible to the next call. The functions are volatile, so each of their statements sees everything
-- that was committed before it. Lock order: the root run, then the cases, then the project.

-- A call in flight counts in every period, and a paid call in the period in which its answer arrived.
CREATE OR REPLACE FUNCTION period_begin(asked_project integer) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT period_start(spending_period, clock_timestamp())::timestamp AT TIME ZONE 'UTC' FROM projects
  WHERE id = asked_project
$$;

-- Returns the reservations of calls of open runs and of the chat proxy. A run that has ended reserves nothing.
CREATE OR REPLACE FUNCTION reserved_in_project(asked_project integer) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT sum(call.reserved_usd) FROM provider_calls AS call JOIN runs ON runs.id = call.run_id
      WHERE call.project_id = asked_project AND call.reserved_usd IS NOT NULL AND runs.status = 'In Progress'
        AND (call.state <> 'applied' OR call.replied_at >= (SELECT period_begin(asked_project)))), 0)
    + coalesce((SELECT sum(reserved_usd) FROM chat_calls
      WHERE project_id = asked_project AND reserved_usd IS NOT NULL), 0)
$$;

-- Counts a call that a limit has stopped.
CREATE OR REPLACE FUNCTION count_stop(of_project integer, by_limit text, of_run uuid) RETURNS void LANGUAGE sql AS $$
  INSERT INTO spending_stops AS stop (project_id, day, limited, source, calls, last_run_id, last_at)
  VALUES (of_project, period_start('day', clock_timestamp()), by_limit,
    CASE WHEN of_run IS NULL THEN 'chat' ELSE 'run' END, 1, of_run, clock_timestamp())
  ON CONFLICT (project_id, day, limited, source) DO UPDATE
    SET calls = stop.calls + 1, last_run_id = excluded.last_run_id, last_at = excluded.last_at
$$;

-- Returns no row if the call may be made, or else the limit of the project.
CREATE OR REPLACE FUNCTION refuse_in_project(asked_project integer, price numeric, own numeric, asked_run uuid)
  RETURNS TABLE (limited text, limit_usd numeric, period text, spent_usd numeric, reserved_usd numeric)
  LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM projects WHERE id = asked_project AND spending_limit_usd IS NOT NULL;
  IF NOT FOUND OR price = 0 THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('spending'), asked_project);
  RETURN QUERY SELECT * FROM (
    SELECT 'project', project.spending_limit_usd, project.spending_period,
      spent_in_period(project, clock_timestamp()) AS spent, reserved_in_project(asked_project) - own AS reserved
    FROM projects AS project WHERE project.id = asked_project) AS found
  WHERE found.spent + found.reserved + price > found.spending_limit_usd;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM count_stop(asked_project, 'project', asked_run);
  -- A call that exceeds the whole limit does not mean that the limit is used up.
  PERFORM tell_budget_reached(id) FROM projects
  WHERE id = asked_project
    AND (price <= spending_limit_usd OR spent_in_period(projects, clock_timestamp()) >= spending_limit_usd);
END $$;

-- Returns the limits of a run and of the runs and agents above it.
CREATE OR REPLACE FUNCTION limits_of_call(asked_run uuid, asked_path text, asked_node text, own_limit numeric)
  RETURNS TABLE (limited text, run_id uuid, path text, node_id text, limit_usd numeric) LANGUAGE sql STABLE AS $$
  WITH RECURSIVE above AS (
    SELECT id, workflow_id, parent_run_id, parent_path, parent_node_id FROM runs WHERE id = asked_run
    UNION ALL
    SELECT run.id, run.workflow_id, run.parent_run_id, run.parent_path, run.parent_node_id
    FROM runs AS run JOIN above ON run.id = above.parent_run_id
  )
  SELECT 'agent', asked_run, asked_path, asked_node, own_limit WHERE own_limit IS NOT NULL
  UNION ALL
  SELECT 'run', above.id, NULL, NULL, workflow.max_run_cost_usd
  FROM above JOIN workflows AS workflow ON workflow.id = above.workflow_id
  WHERE workflow.max_run_cost_usd IS NOT NULL
  UNION ALL
  SELECT 'run', above.id, NULL, NULL, test.max_cost_usd
  FROM above JOIN test_runs AS test ON test.run_id = above.id
  WHERE test.max_cost_usd IS NOT NULL
  UNION ALL
  SELECT 'agent', above.parent_run_id, above.parent_path, above.parent_node_id, agent.max_cost_usd
  FROM above JOIN agent_sessions AS agent ON agent.run_id = above.parent_run_id AND agent.path = above.parent_path
    AND agent.node_id = above.parent_node_id
  WHERE agent.max_cost_usd IS NOT NULL
$$;

-- Returns the spent and reserved money of some runs and of all runs below them.
CREATE OR REPLACE FUNCTION money_of_runs(asked uuid[], of_project integer, OUT spent numeric, OUT reserved numeric)
  LANGUAGE sql STABLE AS $$
  WITH RECURSIVE below AS (
    SELECT id, cost_usd, status FROM runs WHERE id = ANY (asked)
    UNION ALL
    SELECT child.id, child.cost_usd, child.status FROM runs AS child JOIN below ON child.parent_run_id = below.id
  )
  SELECT coalesce(sum(below.cost_usd), 0), coalesce((
    SELECT sum(call.reserved_usd) FROM provider_calls AS call
    WHERE call.project_id = of_project AND call.reserved_usd IS NOT NULL
      AND call.run_id IN (SELECT id FROM below WHERE status = 'In Progress')), 0)
  FROM below
$$;

-- Returns the spent and reserved money of a root run and of all runs below it, by the index on `root_run_id`.
CREATE OR REPLACE FUNCTION money_below_root(root uuid, of_project integer, OUT spent numeric, OUT reserved numeric)
  LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT cost_usd FROM runs WHERE id = root), 0)
      + coalesce((SELECT sum(cost_usd) FROM runs WHERE root_run_id = root), 0),
    coalesce((SELECT sum(call.reserved_usd) FROM provider_calls AS call JOIN runs ON runs.id = call.run_id
      WHERE call.project_id = of_project AND call.reserved_usd IS NOT NULL AND runs.status = 'In Progress'
        AND (runs.id = root OR runs.root_run_id = root)), 0)
$$;

-- Checks the limits of the agent, of the run, and of the runs above it.
CREATE OR REPLACE FUNCTION refuse_in_runs(asked_run uuid, asked_path text, asked_node text, price numeric, own numeric,
    own_limit numeric, root uuid, of_project integer)
  RETURNS TABLE (limited text, limit_usd numeric, period text, spent_usd numeric, reserved_usd numeric)
  LANGUAGE plpgsql AS $$
DECLARE
  place record;
  money record;
  is_itself boolean;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(root::text, 25));
  FOR place IN SELECT * FROM limits_of_call(asked_run, asked_path, asked_node, own_limit) LOOP
    IF place.limited = 'run' THEN
      IF place.run_id = root THEN
        SELECT * INTO money FROM money_below_root(root, of_project);
      ELSE
        SELECT * INTO money FROM money_of_runs(ARRAY[place.run_id], of_project);
      END IF;
      money.reserved := money.reserved - own;
    ELSE
      is_itself := place.run_id = asked_run AND place.path = asked_path AND place.node_id = asked_node;
      SELECT found.spent + coalesce((SELECT sum(call.price_usd) FROM provider_calls AS call
          WHERE call.run_id = place.run_id AND call.path = place.path AND call.node_id = place.node_id), 0) AS spent,
        found.reserved - CASE WHEN is_itself THEN 0 ELSE own END AS reserved
      INTO money
      FROM money_of_runs(ARRAY(SELECT started.id FROM runs AS started
        WHERE started.parent_run_id = place.run_id AND started.parent_path = place.path
          AND started.parent_node_id = place.node_id), of_project) AS found;
    END IF;
    IF money.spent + money.reserved + price > place.limit_usd THEN
      PERFORM count_stop(of_project, place.limited, asked_run);
      RETURN QUERY SELECT place.limited::text, place.limit_usd::numeric, NULL::text, money.spent::numeric,
        money.reserved::numeric;
      RETURN;
    END IF;
  END LOOP;
END $$;

-- Checks the limit of cases that were started together. Cases are test runs, with runs below them, and share one limit.
CREATE OR REPLACE FUNCTION refuse_in_cases(asked_run uuid, price numeric, own numeric, root uuid, of_project integer)
  RETURNS TABLE (limited text, limit_usd numeric, period text, spent_usd numeric, reserved_usd numeric)
  LANGUAGE plpgsql AS $$
DECLARE
  cases record;
  money record;
BEGIN
  SELECT started.id, started.max_cost_usd INTO cases
  FROM case_results AS result JOIN case_runs AS started ON started.id = result.case_run_id
  WHERE result.run_id = root AND started.max_cost_usd IS NOT NULL;
  IF NOT FOUND THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(cases.id::text, 26));
  SELECT sum(found.spent) AS spent, sum(found.reserved) - own AS reserved INTO money
  FROM case_results AS result CROSS JOIN LATERAL money_below_root(result.run_id, of_project) AS found
  WHERE result.case_run_id = cases.id AND result.run_id IS NOT NULL;
  IF money.spent + money.reserved + price > cases.max_cost_usd THEN
    UPDATE case_runs SET has_reached_limit = true WHERE id = cases.id AND NOT has_reached_limit;
    PERFORM count_stop(of_project, 'cases', asked_run);
    RETURN QUERY SELECT 'cases', cases.max_cost_usd::numeric, NULL::text, money.spent::numeric, money.reserved::numeric;
  END IF;
END $$;

-- Calls `refuse_in_runs`, `refuse_in_cases` and `refuse_in_project`, in the lock order.
CREATE OR REPLACE FUNCTION refuse_call(asked_run uuid, asked_path text, asked_node text, asked_turn integer,
    price numeric, own_limit numeric)
  RETURNS TABLE (limited text, limit_usd numeric, period text, spent_usd numeric, reserved_usd numeric)
  LANGUAGE plpgsql AS $$
DECLARE
  of_project integer;
  root uuid;
  is_run_limited boolean;
  is_project_limited boolean;
  is_test boolean;
  own numeric;
BEGIN
  IF price = 0 THEN RETURN; END IF;
  SELECT run.project_id, coalesce(run.root_run_id, run.id), project.spending_limit_usd IS NOT NULL,
    run.purpose = 'test',
    own_limit IS NOT NULL OR workflow.max_run_cost_usd IS NOT NULL
      OR ((run.parent_run_id IS NOT NULL OR run.purpose = 'test')
      AND EXISTS (SELECT FROM limits_of_call(asked_run, asked_path, asked_node, NULL)))
  INTO of_project, root, is_project_limited, is_test, is_run_limited
  FROM runs AS run JOIN projects AS project ON project.id = run.project_id
    JOIN workflows AS workflow ON workflow.id = run.workflow_id
  WHERE run.id = asked_run;
  IF NOT (is_run_limited OR is_project_limited OR is_test) THEN RETURN; END IF;
  -- An attempt that repeats a call already has a reservation.
  SELECT coalesce(sum(call.reserved_usd), 0) INTO own FROM provider_calls AS call
  WHERE call.run_id = asked_run AND call.path = asked_path AND call.node_id = asked_node
    AND call.turn = asked_turn AND call.ordinal = 0;
  IF is_run_limited THEN
    RETURN QUERY
      SELECT * FROM refuse_in_runs(asked_run, asked_path, asked_node, price, own, own_limit, root, of_project);
    IF FOUND THEN RETURN; END IF;
  END IF;
  IF is_test THEN
    RETURN QUERY SELECT * FROM refuse_in_cases(asked_run, price, own, root, of_project);
    IF FOUND THEN RETURN; END IF;
  END IF;
  IF is_project_limited THEN
    RETURN QUERY SELECT * FROM refuse_in_project(of_project, price, own, asked_run);
  END IF;
END $$;
