import { sql, type Kysely } from 'kysely';

/** The `max_cost` of cases that are run together holds for each call that is paid. Extensions, section 11; ADR 20. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of limits) await sql.raw(statement).execute(db);
}

const limits = [
  `ALTER TABLE case_runs ADD COLUMN has_reached_limit boolean NOT NULL DEFAULT false`,
  `CREATE INDEX case_results_of_run ON case_results (run_id) WHERE run_id IS NOT NULL`,
  `ALTER TABLE spending_stops DROP CONSTRAINT spending_stops_limited_check,
    ADD CONSTRAINT spending_stops_limited_check CHECK (limited IN ('project', 'run', 'agent', 'cases'))`,
  // Returns no row where the call may be made, and else the limit that it would pass: that of an agent, of a run, or of runs
  // above it. Lock order: the first run of all above, then the cases, then the project.
  `CREATE FUNCTION refuse_in_runs(asked_run uuid, asked_path text, asked_node text, price numeric, own numeric,
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
        RETURN QUERY SELECT place.limited::text, place.limit_usd::numeric, NULL::text, money.spent::numeric, money.reserved::numeric;
        RETURN;
      END IF;
    END LOOP;
  END $$`,
  // Several cases are tests with runs below them. The cases of one run of cases have one limit.
  `CREATE FUNCTION refuse_in_cases(asked_run uuid, price numeric, own numeric, root uuid, of_project integer)
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
  END $$`,
  `CREATE OR REPLACE FUNCTION refuse_call(asked_run uuid, asked_path text, asked_node text, asked_turn integer, price numeric,
      own_limit numeric)
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
    SELECT run.project_id, coalesce(run.root_run_id, run.id), project.spending_limit_usd IS NOT NULL, run.purpose = 'test',
      own_limit IS NOT NULL OR workflow.max_run_cost_usd IS NOT NULL OR (run.parent_run_id IS NOT NULL
        AND EXISTS (SELECT FROM limits_of_call(asked_run, asked_path, asked_node, NULL)))
    INTO of_project, root, is_project_limited, is_test, is_run_limited
    FROM runs AS run JOIN projects AS project ON project.id = run.project_id
      JOIN workflows AS workflow ON workflow.id = run.workflow_id
    WHERE run.id = asked_run;
    IF NOT (is_run_limited OR is_project_limited OR is_test) THEN RETURN; END IF;
    -- An attempt that repeats a call has its reservation already.
    SELECT coalesce(sum(call.reserved_usd), 0) INTO own FROM provider_calls AS call
    WHERE call.run_id = asked_run AND call.path = asked_path AND call.node_id = asked_node
      AND call.turn = asked_turn AND call.ordinal = 0;
    IF is_run_limited THEN
      RETURN QUERY SELECT * FROM refuse_in_runs(asked_run, asked_path, asked_node, price, own, own_limit, root, of_project);
      IF FOUND THEN RETURN; END IF;
    END IF;
    IF is_test THEN
      RETURN QUERY SELECT * FROM refuse_in_cases(asked_run, price, own, root, of_project);
      IF FOUND THEN RETURN; END IF;
    END IF;
    IF is_project_limited THEN
      RETURN QUERY SELECT * FROM refuse_in_project(of_project, price, own, asked_run);
    END IF;
  END $$`,
];
