import { sql, type Kysely } from 'kysely';

/** Model calls that were cut off after they were sent are charged, and wakes that fail wait longer. Extensions, section 4. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // Each call that was cut off is a row of its own, whose ordinal is the negative number of its attempt.
  `ALTER TABLE provider_calls DROP CONSTRAINT provider_calls_state_check`,
  `ALTER TABLE provider_calls
    ADD CONSTRAINT provider_calls_state_check CHECK (state IN ('sent', 'applied', 'refused', 'cut')) NOT VALID,
    ADD COLUMN is_estimated boolean NOT NULL DEFAULT false`,
  // An amount sinks where the answer to a call comes after the call was charged as cut off.
  `CREATE TRIGGER billing_transactions_sunk AFTER UPDATE OF amount_usd ON billing_transactions
    FOR EACH ROW WHEN (NEW.amount_usd = 0 AND OLD.amount_usd <> 0) EXECUTE FUNCTION add_transaction_to_sums()`,
  // A wake or a decision whose signal could not be delivered is tried again from this moment on.
  `ALTER TABLE waits ADD COLUMN next_signal_at timestamptz, ADD COLUMN signal_attempts integer NOT NULL DEFAULT 0`,
  `ALTER TABLE approval_requests
    ADD COLUMN next_signal_at timestamptz, ADD COLUMN signal_attempts integer NOT NULL DEFAULT 0`,
];
