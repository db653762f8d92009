// `npm run --silent admin -- <command>`: one JSON document on standard output; errors on standard error, exit code 1.
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  addKey,
  dropMember,
  issueToken,
  putMember,
  changeKey,
  removeKey,
  showKeys,
  showMembers,
} from './admin/accounts.js';
import { verifyAudit } from './admin/audit-verify.js';
import { addCategory, removeCategory, showCategories } from './admin/categories.js';
import { extract } from './admin/connections.js';
import { AdminError, withContext, type AdminContext } from './admin/context.js';
import { addDeploymentCommands } from './admin/deployment-commands.js';
import { partition } from './admin/partition.js';
import { addProviderKey, dropProviderKey } from './admin/provider-keys.js';
import { reencryptSecrets, showSecrets } from './admin/secrets.js';
import { addUserCommands } from './admin/user-commands.js';
import { describeFailure } from './exit.js';
import { parseEnvironment } from '../config/environment.js';
import { insertAuditEntry, SYSTEM } from '../db/audit/audit-entry.js';
import { forgetSignals } from '../db/agents/approvals-repository.js';
import { forgetWakes } from '../db/waits/wakes-repository.js';
import type { Role } from '../db/core/tables.js';

const DEFAULT_TTL_SECONDS = 3600;
const LABEL_HELP = 'to tell keys apart';

const program = new Command('admin').description('Users, keys, members, tokens. One JSON document on standard output.');
const key = program.command('key').description('API keys');
const member = program.command('member').description('who may do what in a project');
const providerKey = program.command('provider-key').description("a project's own keys for model providers");

addUserCommands(program, { run, withId, parseId });
addDeploymentCommands(program, report);

withUser(key.command('create'))
  .option('--rate-limit <number>', 'requests a minute; without it DEFAULT_RATE_LIMIT holds', parseId)
  .option('--label <label>', LABEL_HELP, '')
  .action((options: User & { rateLimit?: number; label: string }) =>
    run((admin) => addKey(admin, options.user, options.label, options.rateLimit)),
  );
withUser(key.command('list')).action((options: User) => run((admin) => showKeys(admin, options.user)));
withId(key.command('update'))
  .requiredOption('--rate-limit <number>', 'requests a minute', parseId)
  .action(({ id, rateLimit }: Id & { rateLimit: number }) => run((admin) => changeKey(admin, id, rateLimit)));
withId(key.command('delete')).action(({ id }: Id) => run((admin) => removeKey(admin, id)));

withUser(program.command('jwt').description('session tokens').command('issue'))
  .addOption(new Option('--ttl <seconds>').argParser(parseId).default(DEFAULT_TTL_SECONDS))
  .action((options: User & { ttl: number }) => run((admin) => issueToken(admin, options.user, options.ttl)));

withUser(withProject(member.command('set')))
  .addOption(new Option('--role <role>').choices(['owner', 'admin', 'editor', 'viewer']).makeOptionMandatory())
  .action((options: User & Project & { role: Role }) =>
    run((admin) => putMember(admin, options.project, options.user, options.role)),
  );
withProject(member.command('list')).action(({ project }: Project) => run((admin) => showMembers(admin, project)));
withUser(withProject(member.command('remove'))).action((options: User & Project) =>
  run((admin) => dropMember(admin, options.project, options.user)),
);

withProject(providerKey.command('attach'))
  .requiredOption('--provider <name>', 'as in MODEL_PROVIDERS_FILE')
  .requiredOption('--key <key>')
  .option('--name <label>', LABEL_HELP, '')
  .action((options: Project & { provider: string; key: string; name: string }) =>
    run((admin) => addProviderKey(admin, options)),
  );
withId(providerKey.command('detach')).action(({ id }: Id) => run((admin) => dropProviderKey(admin, id)));

const category = program.command('category').description('what workflows are sorted into');
category
  .command('create')
  .requiredOption('--name <name>')
  .option('--parent <number>', 'makes it a subcategory of this category', parseId)
  .action((options: { name: string; parent?: number }) =>
    run((admin) => addCategory(admin, options.name, options.parent)),
  );

category.command('list').action(() => run(showCategories));
withId(category.command('delete')).action(({ id }: Id) => run((admin) => removeCategory(admin, id)));

withProject(program.command('connections').description('credentials that drawings name').command('extract'))
  .description(
    'move credentials that stand in drawings into connections; published drawings and earlier versions keep theirs',
  )
  .option('--dry-run', 'only tell what it would do', false)
  .action((options: Project & { dryRun: boolean }) => run((admin) => extract(admin, options)));

const secrets = program.command('secrets').description('what SECRETS_KEY protects');
secrets
  .command('status')
  .description('stored values by key')
  .action(() => run(showSecrets));
secrets
  .command('reencrypt')
  .description('seal every stored value with the first key')
  .action(() => run(reencryptSecrets));

program
  .command('approval')
  .description('what people and others have answered')
  .command('resend')
  .description(
    'tell the runs all decisions, answers, callbacks and ends again, after Temporal was restored from a backup',
  )
  .action(() =>
    run(({ db }) =>
      db.transaction().execute(async (trx) => {
        const { runTimeoutDays: days } = parseEnvironment(process.env);
        await insertAuditEntry(trx, { action: 'signals.resent', doer: SYSTEM, projectId: null });
        return { decisions: await forgetSignals(trx, days), wakes: await forgetWakes(trx, days) };
      }),
    ),
  );

program
  .command('audit')
  .description('the audit log')
  .command('verify')
  .description('whether every record is as it was written, and none is missing')
  .option('--project <number>', 'only the records of this project', parseId)
  .action(({ project }: { project?: number }) => run((admin) => verifyAudit(admin, project)));

program
  .command('database')
  .description('the tables of the service')
  .command('partition')
  .description('divide the results of nodes into several tables, while the service works')
  .option('--into <number>', '2 to 256', parsePartitions, 16)
  .action(({ into }: { into: number }) => run((admin) => partition(admin, into)));

await program.parseAsync();

interface Id {
  id: number;
}
interface User {
  user: number;
}
interface Project {
  project: number;
}

function withId(command: Command): Command {
  return command.requiredOption('--id <number>', '', parseId);
}

function withUser(command: Command): Command {
  return command.requiredOption('--user <number>', 'user id', parseId);
}

function withProject(command: Command): Command {
  return command.requiredOption('--project <number>', 'project id', parseId);
}

/** Parses ids, limits and times: whole numbers from 1 that fit into the database's `integer`. */
function parseId(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > 2_147_483_647)
    throw new InvalidArgumentError('A whole number from 1.');
  return value;
}

function parsePartitions(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 2 || value > 256) throw new InvalidArgumentError('A whole number from 2 to 256.');
  return value;
}

function run(action: (admin: AdminContext) => Promise<object>): Promise<void> {
  return report(() => withContext(process.env, action));
}

async function report(action: () => Promise<object>): Promise<void> {
  try {
    const result = await action();
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof AdminError ? error.message : describeFailure(error)}\n`);
    process.exitCode = 1;
  }
}
