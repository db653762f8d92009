-- Copies of published workflows, and the numbers of their runs.

CREATE TABLE marketplace_copies (
  copy_id integer PRIMARY KEY REFERENCES workflows (id),
  source_id integer NOT NULL REFERENCES workflows (id),
  user_id integer NOT NULL REFERENCES users (id),
  run_fee_usd numeric NOT NULL CHECK (run_fee_usd >= 0),
  free_runs_per_user integer NOT NULL CHECK (free_runs_per_user >= 0),
  created_at timestamptz NOT NULL DEFAULT now()
);

COMMENT ON TABLE marketplace_copies IS
  'Copies of published workflows, on the terms that their users saw: a later price is not theirs. Writer: the API.';

CREATE INDEX marketplace_copies_source ON marketplace_copies (source_id, user_id);

CREATE TABLE marketplace_usage (
  source_id integer NOT NULL REFERENCES workflows (id),
  user_id integer NOT NULL REFERENCES users (id),
  succeeded_runs integer NOT NULL,
  PRIMARY KEY (source_id, user_id)
);

COMMENT ON TABLE marketplace_usage IS
  'Succeeded runs of a user on all their copies of a source that has a fee. Writer: the end of a run.';
