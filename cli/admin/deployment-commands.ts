// `npm run --silent admin -- deployment ...`: which build of the worker gets new runs (docs/operate/upgrade.md).
import path from 'node:path';
import { Connection } from '@temporalio/client';
import { InvalidArgumentError, type Command } from 'commander';
import { DEFAULT_DEPLOYMENT, parseEnvironment } from '../../config/environment.js';
import { loadTemporalConnection } from '../../config/temporal-connection.js';
import { DeploymentError, listBuilds, setCurrent, setRamp, type Deployment } from '../../deployments/worker-builds.js';
import { FOREIGN_TEMPORAL } from '../embedded/child-environment.js';
import { readStackFile } from '../embedded/stack-file.js';
import { AdminError } from './context.js';

interface Options {
  ignoreMissingPools: boolean;
}

/** `report` prints the result of an action, or its failure. */
export function addDeploymentCommands(
  program: Command,
  report: (action: () => Promise<object>) => Promise<void>,
): void {
  const deployment = program.command('deployment').description('builds of versioned workers');
  const command = (name: string, description: string): Command => deployment.command(name).description(description);
  const pools = (of: Command): Command =>
    of.option('--ignore-missing-pools', 'although nodes of a pool would find no worker', false);

  command('list', 'the builds, and what each still has to do').action(() =>
    report(() => inDeployment(() => undefined)),
  );
  pools(command('set-current', 'send all new runs to a build').argument('<build>')).action(
    (build: string, options: Options) => report(() => inDeployment((of) => setCurrent(of, build, options))),
  );
  pools(
    command('ramp', 'send a share of new runs to a build')
      .argument('<build>')
      .argument('<percent>', '0 to 100', parsePercent),
  ).action((build: string, percent: number, options: Options) =>
    report(() => inDeployment((of) => setRamp(of, build, percent, options))),
  );
}

/** Executes `change`, and returns the builds after it. */
async function inDeployment(change: (deployment: Deployment) => Promise<void> | undefined): Promise<object> {
  const { connectionOptions, namespace } = loadTemporalConnection(withStack(process.env));
  const connection = await Connection.connect(connectionOptions);
  try {
    const name = parseEnvironment(process.env).workerDeploymentName ?? DEFAULT_DEPLOYMENT;
    const deployment = { workflowService: connection.workflowService, namespace, name };
    await change(deployment);
    return await listBuilds(deployment);
  } catch (error) {
    throw error instanceof DeploymentError ? new AdminError(error.message) : error;
  } finally {
    await connection.close();
  }
}

/** Without TEMPORAL_ADDRESS, the commands use the Temporal server of the running stack. */
function withStack(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env['TEMPORAL_ADDRESS']) return env;
  const stack = readStackFile(path.resolve(parseEnvironment(env).dataDir));
  if (stack === undefined) return env;
  // Settings of another server do not fit the stack's.
  const own = Object.entries(env).filter(([name]) => !FOREIGN_TEMPORAL.test(name));
  const { temporal_address: address, temporal_namespace: namespace } = stack;
  return { ...Object.fromEntries(own), TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
}

function parsePercent(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > 100) throw new InvalidArgumentError('A number from 0 to 100.');
  return value;
}
