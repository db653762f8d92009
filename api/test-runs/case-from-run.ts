// Makes a case from a run: its input, mocks of nodes that must not be executed again, and its output
// (docs/use/test-runs.md, "Cases").
import { openPassedSecrets } from '../../db/runs/passed-secrets.js';
import { findEarlierRun } from '../../db/resume/resume-repository.js';
import { findOutput, listEndsOf, measureEndsOf } from '../../db/test-runs/run-results-repository.js';
import type { CaseContent } from '../../db/test-runs/cases-repository.js';
import { fieldIdsOf, secretFieldsOf } from '../../graph/input.js';
import { parseJson } from '../../graph/json-text.js';
import { isObject, type JsonObject } from '../../graph/json.js';
import { renderText } from '../../graph/template.js';
import type { TestDeps } from './deps.js';
import { ApiError, invalidFields } from '../http/errors.js';
import { secretsOfRun } from '../runs/resume/drawings.js';
import { hasSideEffects } from './estimate.js';
import { MOST_MOCKS, refuseManyMocks } from './read-mocks.js';

export const MOST_BYTES_OF_CASE = 1024 * 1024;

/**
 * A longer output becomes no expectation. The node result that contains a shorter one has less than
 * `MOST_BYTES_OF_CASE`, so that this limit of `findOutput` loses none.
 */
const MOST_CHARACTERS = 64 * 1024;

/**
 * Throws 413 if the results are larger than a case may be. Throws 400 if the workflow has no such run, or if the run is
 * open, has expired results, needs too many mocks, or holds secrets of other runs. Also throws 400 for a run of the
 * assistant in the editor, because every member may read the cases, but not such a run.
 */
export async function caseFromRun(
  { db, secretBox, config }: Pick<TestDeps, 'db' | 'secretBox' | 'config'>,
  workflowId: number,
  runId: string,
): Promise<CaseContent> {
  const run = await findEarlierRun(db, runId, config.resultRetentionDays);
  if (run?.workflowId !== workflowId || run.purpose === 'assistant')
    throw invalidFields({ run_id: ['The workflow has no such run.'] });
  if (run.status === 'In Progress') throw invalidFields({ run_id: ['The run is open.'] });
  if (run.isExpired) throw new ApiError(400, 'run_expired', 'The results of this run have expired.');
  const row = [run.projectId, run.id] as const;
  const text = run.inputEnc === null ? run.input : secretBox.open(run.inputEnc, 'run-input', ...row);
  const input = parseJson(text);
  const data = new Map(
    (run.document['nodes'] as { id: string; data?: JsonObject }[]).map((node) => [node.id, node.data ?? {}]),
  );
  const mocked = run.plan.ids.filter((id, number) => {
    const kind = run.plan.kinds[number]!;
    const of = data.get(id) ?? {};
    const waits = kind === 'human' || (kind === 'wait' && of['mode'] === 'callback');
    return waits || hasSideEffects(kind, of);
  });
  const { count, bytes } = await measureEndsOf(db, runId, mocked, MOST_MOCKS + 1);
  refuseManyMocks(count);
  // The results are measured before they are read, because each may have 10 MiB.
  if (bytes > MOST_BYTES_OF_CASE) throw largeCase();
  const ends = await listEndsOf(db, runId, mocked, MOST_MOCKS);
  const secrets = openPassedSecrets(secretBox, run.passedSecretsEnc, row);
  if (secrets.length > 0) {
    throw new ApiError(400, 'passed_secrets', 'The run holds secrets of other runs, which no case can keep.');
  }
  const mocks = ends.map(({ nodeId, path, result, error }) => {
    const key = path === '' ? nodeId : `${nodeId}@${path}`;
    return [key, error === undefined ? (parseJson(result ?? '{"content":""}') as JsonObject) : { error }];
  });
  const output = await findOutput(db, runId, MOST_BYTES_OF_CASE);
  return {
    input: isObject(input) ? input : {},
    mocks: Object.fromEntries(mocks) as JsonObject,
    expect: expectOutput(output),
    secretFieldIds: [...fieldIdsOf(secretFieldsOf(run.document))],
    // If the input is not sealed, nothing in it was masked.
    ...(run.inputEnc !== null && { secretsThen: secretsOfRun(secretBox, run) }),
  };
}

export function largeCase(): ApiError {
  return new ApiError(413, 'too_large', 'A case has at most 1 MiB.');
}

function expectOutput(output: string | undefined): CaseContent['expect'] {
  if (output === undefined || output.length > MOST_CHARACTERS) return [];
  // Renders the output as conditions compare it.
  const value = { content: '', value: parseJson(output) };
  const right = renderText('{{ n.result.value }}', { input: {}, results: new Map([['n', value]]) });
  return [{ output: true, path: '', operator: '==', right }];
}
