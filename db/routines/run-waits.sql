-- Returns what an open run waits for while nothing of it is in flight, else null. A loop is not looked at itself, but
-- the nodes of its open iterations are. An agent waits for approvals before it calls tools, and for the runs of tools
-- after it has left the step. A node between two attempts has a stored attempt with the number of its last one; one
-- whose worker is gone is in a queue instead. If a deadline has passed, the node is about to continue.
CREATE OR REPLACE FUNCTION run_waits_for(asked uuid) RETURNS text
  LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  level text[] := '{""}';
  places text[] := level;
BEGIN
  LOOP
    level := open_iterations(asked, level);
    EXIT WHEN level IS NULL;
    places := places || level;
  END LOOP;
  RETURN (
    SELECT CASE WHEN count(*) = count(reason) THEN (array_agg(reason
      ORDER BY array_position('{approval,human,connection,callback,time,child,worker}'::text[], reason)))[1] END
    FROM node_results AS node CROSS JOIN LATERAL (
      SELECT CASE
        WHEN EXISTS (
          SELECT FROM approval_requests AS request
          WHERE request.run_id = node.run_id AND request.path = node.path AND request.node_id = node.node_id
            AND request.status = 'pending' AND request.expires_at > now()
        ) THEN 'approval'
        ELSE coalesce((
          SELECT wait.kind FROM waits AS wait
          WHERE wait.run_id = node.run_id AND wait.path = node.path AND wait.node_id = node.node_id
            AND wait.until > now() AND wait.answered_at IS NULL AND wait.closed_at IS NULL
            AND (wait.call <= 0 OR node.step LIKE '%/left')
          ORDER BY wait.call LIMIT 1
        ), (
          SELECT 'time' FROM node_attempts AS attempt
          WHERE attempt.run_id = node.run_id AND attempt.path = node.path AND attempt.node_id = node.node_id
            AND attempt.number = node.attempts AND attempt.error_code NOT IN ('worker_lost', 'worker_shutdown')
        )) END AS reason
    ) AS found
    WHERE node.run_id = asked AND node.path = ANY (places) AND node.status = 'in progress' AND NOT node.is_iteration
      AND node.iterations IS NULL);
END $$;
