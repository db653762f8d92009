// Makes the request for a new run with the input of an earlier one: for a re-run, for a test, and to resume a run with
// the present drawing (docs/use/interface-notes/runs.md, "Run and re-run").
import { openSecrets } from '../../acceptance/opened-drawing.js';
import { openPassedSecrets } from '../../db/runs/passed-secrets.js';
import { openRunSecrets } from '../../db/runs/run-contents.js';
import { findOriginalRun } from '../../db/runs/runs-repository.js';
import type { StoredDrawing } from '../../db/workflows/workflows-repository.js';
import { secretFieldsOf, reuseInput, type RunInput } from '../../graph/input.js';
import { parseJson } from '../../graph/json-text.js';
import { ownValue } from '../../graph/json.js';
import type { RunRequest } from './accept-run.js';
import type { RunDeps } from './deps.js';
import { ApiError, orNotFound } from '../http/errors.js';
import { refusePurpose } from './run-of-purpose.js';

interface ReRun {
  workflow: StoredDrawing;
  originalRunId: string;
  /** If undefined, the original run's input is used. */
  input: RunInput | undefined;
  mayBeTest?: boolean;
}

/**
 * `********` in a secret field of `input` stands for the original run's value. Throws 404 for an unknown run. Throws
 * 400 for a run of the assistant, for a test run unless `mayBeTest`, and if a secret of the original input is needed
 * and has expired (`storedSecret` throws that, too). An input without secrets never expires, because it is stored with
 * the run.
 */
export async function toReRunRequest(
  { db, secretBox }: Pick<RunDeps, 'db' | 'secretBox'>,
  { workflow, originalRunId, input: sentInput, mayBeTest = false }: ReRun,
): Promise<Pick<RunRequest, 'input' | 'storedSecret' | 'passedSecrets'>> {
  const original = orNotFound(await findOriginalRun(db, workflow.id, originalRunId));
  if (original.purpose !== 'run' && !(original.purpose === 'test' && mayBeTest))
    throw refusePurpose(original.purpose, 'run again');
  if (original.is_input_lost && sentInput === undefined) throw inputExpired();
  const row = [original.project_id, original.id] as const;
  const input =
    original.input_enc === null
      ? original.input
      : (parseJson(secretBox.open(original.input_enc, 'run-input', ...row)) as RunInput);
  const storedSecret = (fieldId: string): unknown => {
    const value = ownValue(input, fieldId);
    if (original.is_input_lost && value !== undefined) throw inputExpired();
    return value;
  };
  const passedSecrets = openPassedSecrets(secretBox, original.passed_secrets_enc, row);
  if (sentInput !== undefined) return { input: sentInput, storedSecret, passedSecrets };
  const secrets = openRunSecrets(secretBox, original.secrets_enc, row);
  const then = { fields: secretFieldsOf(original.document), secrets };
  const now = { fields: secretFieldsOf(workflow.document), secrets: openSecrets(secretBox, workflow) };
  return { input: reuseInput(input, then, now), storedSecret, passedSecrets };
}

function inputExpired(): ApiError {
  const detail = 'The secrets in the input of this run have expired: send the input, with its secrets, in the body.';
  return new ApiError(400, 'run_expired', detail);
}
