-- The outbox of webhook events.

CREATE TABLE webhook_deliveries (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  project_id integer NOT NULL REFERENCES projects (id),
  run_id uuid REFERENCES runs (id),
  type text NOT NULL,
  payload text NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'dropped')),
  attempts integer NOT NULL DEFAULT 0,
  response_status integer,
  error_code text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  sent_again_at timestamptz,
  next_attempt_at timestamptz DEFAULT clock_timestamp(),
  leased_until timestamptz,
  delivered_at timestamptz,
  CHECK ((status = 'pending') = (next_attempt_at IS NOT NULL))
) WITH (fillfactor = 80);

COMMENT ON TABLE webhook_deliveries IS
  'The outbox of webhook events, which is also their delivery log. Writers: whoever writes an event '
  '(`enqueueWebhookEvent` and the function `tell_budget_reached`, insert only), and webhook delivery in the API; '
  'retention deletes settled rows.';
COMMENT ON COLUMN webhook_deliveries.id IS 'The `webhook-id` of every attempt.';
COMMENT ON COLUMN webhook_deliveries.ordinal IS
  'The order of a run''s events: given under the lock of the run''s row, so it is also the order of the commits.';
COMMENT ON COLUMN webhook_deliveries.run_id IS 'Null for an event of the project.';
COMMENT ON COLUMN webhook_deliveries.payload IS 'Text: each attempt sends and signs the same bytes.';
COMMENT ON COLUMN webhook_deliveries.status IS
  '`failed`: given up after the last attempt. `dropped`: the webhook was switched off, unset or deleted first.';
COMMENT ON COLUMN webhook_deliveries.attempts IS 'How many attempts have started.';
COMMENT ON COLUMN webhook_deliveries.response_status IS 'The status of the last attempt''s answer; null if it got no answer.';
COMMENT ON COLUMN webhook_deliveries.error_code IS 'Why the last attempt failed, or why the event was dropped.';
COMMENT ON COLUMN webhook_deliveries.sent_again_at IS
  'When a person last asked to send the settled event again, which makes one more attempt without retries.';
COMMENT ON COLUMN webhook_deliveries.next_attempt_at IS 'Null once the event is settled.';
COMMENT ON COLUMN webhook_deliveries.leased_until IS
  'Until then an attempt is under way; later its process counts as dead.';
COMMENT ON COLUMN webhook_deliveries.delivered_at IS 'When the attempt succeeded.';

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_attempt_at, ordinal) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_of_run ON webhook_deliveries (run_id, ordinal) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_of_project ON webhook_deliveries (project_id, ordinal);
CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (created_at) WHERE status <> 'pending';
