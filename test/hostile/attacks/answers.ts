// Answers as large as possible, and clients that do not read them.
import { setTimeout as pause } from 'node:timers/promises';
import { chain, drawing, fanOut, http, trigger } from '../../../harness/drawing/drawing.js';
import type { Attack, Preparation, Prepared } from '../harness/attack.js';
import { incompressibleText } from '../../../harness/target/incompressible-text.js';
import { holdAnswers } from '../harness/sockets.js';
import { flood, type Tenant } from '../harness/tenant.js';

const MIB = 1024 * 1024;
const LARGE_NODES = 60;
const LARGE_RESULT_BYTES = 9 * MIB;
const READERS = 60;
const DRAWINGS = 12;

/** Creates a run with sixty results of 9 MiB, and publishes it as an example on the marketplace. */
const largeRun: Preparation = {
  name: 'a large run',
  async make(tenant) {
    const { api, outside, projectId } = tenant;
    const data = fanOut(LARGE_NODES, () =>
      http(`${outside}/bytes/${LARGE_RESULT_BYTES}`, { settings: { timeout: 120 } }),
    );
    const workflow = await api.createWorkflow(projectId, data);
    const run = (await api.run(workflow)).data.id;
    const { status } = await pollLight(tenant, run);
    if (status !== 'Succeeded') throw new Error(`the large run ended as ${status}`);
    return { workflow, run, slug: await publishAsExample(tenant, workflow, run) };
  },
};

/** Polls the list of runs, which contains no results. */
async function pollLight({ api }: Tenant, run: string): Promise<{ status: string }> {
  for (;;) {
    const { body } = await api.get<{ items: { id: string; status: string }[] }>('/runs/?size=5');
    const found = body.items.find(({ id }) => id === run);
    if (found !== undefined && found.status !== 'In Progress') return found;
    await pause(500);
  }
}

async function publishAsExample({ api }: Tenant, workflow: number, run: string): Promise<string> {
  const market = { market_title: `Large ${run}`, short_description: 'Large', available_languages: ['en'] };
  await api.patch(`/workflows/${workflow}/`, { body: market });
  for (const [path, flag] of [
    ['toggle-marketplace-use', 'use_as_marketplace_template'],
    ['toggle-marketplace-example', 'use_in_marketplace_example'],
  ]) {
    // The answer is the whole run. A service that builds it in memory may be killed at its limit, and restarts.
    await api
      .post(`/workflows/${workflow}/history/${run}/${path}/`, { body: { [flag!]: true } })
      .catch(() => undefined);
    await untilAnswered(api);
  }
  const { body } = await api.post<{ slug: string }>(`/workflows/${workflow}/publish-on-marketplace/`);
  if (typeof body.slug !== 'string') throw new Error(`not published: ${JSON.stringify(body)}`);
  return body.slug;
}

async function untilAnswered(api: Tenant['api']): Promise<void> {
  while ((await api.get('/me/').catch(() => undefined))?.status !== 200) {
    await pause(500);
  }
}

/** Creates workflows with drawings of 8 MiB. The first one also has further versions, and runs. */
const largeDrawings: Preparation = {
  name: 'large drawings',
  async make({ api, projectId }) {
    const workflows: number[] = [];
    for (let made = 0; made < DRAWINGS; made += 1)
      workflows.push(await api.createWorkflow(projectId, largeDrawing(made), `large ${made}`));
    const first = workflows[0]!;
    for (let version = 0; version < 4; version += 1)
      await api.patch(`/workflows/${first}/`, { body: { data: largeDrawing(100 + version) } });
    for (let run = 0; run < 20; run += 1) await api.run(first);
    return { project: projectId, workflow: first };
  },
};

function largeDrawing(number: number): object {
  const note = incompressibleText(8 * MIB)
    .toString('latin1')
    .replaceAll('\\', ' ');
  const start = trigger([], { note: `${number}${note}` });
  return drawing([{ ...start, id: 'start', data: { ...start.data, id: 'start' } }]);
}

const historyPath = ({ workflow, run }: Prepared): string => `/api/v1/workflows/${workflow}/history/${run}/`;
const pollPath = ({ run }: Prepared): string => `/api/v1/workflows/workflow_result/?id=${run}`;
const examplePath = ({ slug, run }: Prepared): string => `/api/v1/workflows/marketplace/${slug}/examples/${run}/`;

export const answerAttacks: Attack[] = [
  {
    name: 'large-history',
    title: 'The history of a run with 60 results of 9 MiB.',
    heldBy: 'Results are streamed, a piece at a time.',
    prepare: largeRun,
    act: (tenant, prepared) => flood(tenant, 3, { path: historyPath(prepared) }),
  },
  {
    name: 'large-polls',
    title: 'Polls of that run.',
    heldBy: 'The same.',
    prepare: largeRun,
    act: (tenant, prepared) => flood(tenant, 6, { path: pollPath(prepared) }),
  },
  {
    name: 'large-flags',
    title: 'Flags of that run, whose answers are the run.',
    heldBy: 'The same.',
    prepare: largeRun,
    act: (tenant, { workflow, run }) =>
      flood(tenant, 3, (round) => ({
        path: `/api/v1/workflows/${workflow}/history/${run}/toggle-api-run/`,
        body: JSON.stringify({ is_api_run: round % 2 === 0 }),
      })),
  },
  {
    name: 'large-examples',
    title: 'That run as an example on the marketplace, and its list, without an account.',
    heldBy: 'The same.',
    prepare: largeRun,
    act: (tenant, prepared) =>
      Promise.all([
        flood(tenant, 3, { as: 'stranger', path: examplePath(prepared) }),
        flood(tenant, 3, { as: 'stranger', path: `/api/v1/workflows/marketplace/${prepared.slug}/examples/` }),
      ]),
  },
  {
    name: 'readers-that-take-nothing',
    title: 'Sixty readers of polls, histories and examples of that run who take nothing.',
    heldBy: 'A reader holds one piece, and is disconnected.',
    prepare: largeRun,
    act: (tenant, prepared) =>
      Promise.all([
        holdAnswers(tenant, { count: READERS / 3, path: pollPath(prepared) }),
        holdAnswers(tenant, { count: READERS / 3, path: historyPath(prepared) }),
        holdAnswers(tenant, { count: READERS / 3, as: 'stranger', path: examplePath(prepared) }),
      ]),
  },
  {
    name: 'readers-that-drip',
    title: 'Sixty readers of the same who take a kilobyte a second.',
    heldBy: 'The same.',
    prepare: largeRun,
    act: (tenant, prepared) =>
      Promise.all([
        holdAnswers(tenant, { count: READERS / 3, bytesPerSecond: 1_024, path: pollPath(prepared) }),
        holdAnswers(tenant, { count: READERS / 3, bytesPerSecond: 1_024, path: historyPath(prepared) }),
        holdAnswers(tenant, { count: READERS / 3, bytesPerSecond: 1_024, as: 'stranger', path: examplePath(prepared) }),
      ]),
  },
  {
    name: 'large-history-lists',
    title: 'Lists of the history of runs whose drawing has 8 MiB.',
    heldBy: 'Lists leave out what is too large, and are streamed.',
    prepare: largeDrawings,
    act: (tenant, { workflow }) => flood(tenant, 12, { path: `/api/v1/workflows/${workflow}/history/?size=100` }),
  },
  {
    name: 'large-workflow-lists',
    title: 'Lists of workflows whose drawings have 8 MiB.',
    heldBy: 'The same.',
    prepare: largeDrawings,
    act: (tenant, { project }) =>
      Promise.all([
        flood(tenant, 8, { path: `/api/v1/workflows/?project=${project}&size=100` }),
        flood(tenant, 8, { as: 'session', path: '/api/v1/all-workflows/?size=10' }),
      ]),
  },
  {
    name: 'lists-that-nobody-takes',
    title: 'Sixty readers of these lists who take nothing.',
    heldBy: 'The same, and readers are disconnected.',
    prepare: largeDrawings,
    act: (tenant, { project, workflow }) =>
      Promise.all([
        holdAnswers(tenant, { count: READERS / 2, path: `/api/v1/workflows/?project=${project}&size=10` }),
        holdAnswers(tenant, { count: READERS / 2, path: `/api/v1/workflows/${workflow}/history/?size=100` }),
      ]),
  },
  {
    name: 'large-versions',
    title: 'Versions of 8 MiB, read and restored, and exports of their workflow.',
    heldBy: 'Drawings are streamed.',
    prepare: largeDrawings,
    act: (tenant, { workflow }) =>
      Promise.all([
        flood(tenant, 4, (round) => ({
          as: 'session',
          path: `/api/v1/workflows/${workflow}/versions/${1 + (round % 4)}/`,
        })),
        flood(tenant, 2, (round) => ({
          as: 'session',
          method: 'POST',
          path: `/api/v1/workflows/${workflow}/versions/${1 + (round % 4)}/restore/`,
        })),
        flood(tenant, 2, { as: 'session', path: `/api/v1/workflows/${workflow}/export/` }),
      ]),
  },
  {
    name: 'checks-of-large-drawings',
    title: 'Two hundred checks at once, by sessions, of drawings of thousands of nodes.',
    heldBy: 'Work on large drawings waits in a queue that serves the tenants in turn.',
    tenants: 2,
    prepare: {
      name: 'wide drawings',
      async make({ api, projectId }) {
        const message = 'x {{ input.a }} '.repeat(60);
        const data = fanOut(4_000, () => http('https://example.com/{{ input.a }}', { body: { message } }));
        return { workflow: await api.createWorkflow(projectId, data) };
      },
    },
    act: (tenant, { workflow }) =>
      flood(tenant, 100, { as: 'session', path: `/api/v1/workflows/${workflow}/check_workflow/` }),
  },
  {
    name: 'checks-of-sent-drawings',
    title: 'Checks of drawings of thousands of nodes, which each request brings along, by sessions.',
    heldBy: 'The same: the size of a drawing in the body counts like that of a stored one.',
    tenants: 2,
    prepare: {
      name: 'small drawings',
      async make({ api, projectId }) {
        return { workflow: await api.createWorkflow(projectId, chain(1)) };
      },
    },
    act: (tenant, { workflow }) => {
      const message = 'x {{ input.a }} '.repeat(60);
      const sent = fanOut(4_000, () => http('https://example.com/{{ input.a }}', { body: { message } }));
      return flood(tenant, 4, {
        as: 'session',
        method: 'POST',
        path: `/api/v1/workflows/${workflow}/check_workflow/`,
        body: JSON.stringify({ drawing: sent }),
      });
    },
  },
];
