// The commands `user ...` and `console-link`.
import type { Command } from 'commander';
import type { AdminContext } from './context.js';
import { makeConsoleLink } from './console-link.js';
import { readPassword } from './standard-input.js';
import { addUser, changeApiAccess, setPassword, showUsers } from './users.js';

interface CommandTools {
  run: (action: (admin: AdminContext) => Promise<object>) => Promise<void>;
  withId: (command: Command) => Command;
  parseId: (text: string) => number;
}

interface CreateOptions {
  name: string;
  email?: string;
  passwordStdin?: true;
  admin?: true;
  apiAccess: boolean;
}

const PASSWORD_HELP = 'the password comes on standard input';

export function addUserCommands(program: Command, { run, withId, parseId }: CommandTools): void {
  const user = program.command('user').description('people who call the API or sign in');
  user
    .command('create')
    .requiredOption('--name <name>')
    .option('--email <address>', 'the user signs in with it')
    .option('--password-stdin', PASSWORD_HELP)
    .option('--admin', 'may manage users and the limits of keys')
    .option('--no-api-access', 'the keys of the user are refused until access is granted')
    .action(({ name, email, passwordStdin, admin, apiAccess }: CreateOptions) =>
      run(async (context) => {
        const password = passwordStdin === true ? { password: await readPassword() } : {};
        const address = email === undefined ? {} : { email };
        return addUser(context, { name, ...address, ...password, isAdmin: admin === true, apiAccess });
      }),
    );
  withId(user.command('set-password').description('ends the sessions of the user, too'))
    .requiredOption('--password-stdin', PASSWORD_HELP)
    .action(({ id }: { id: number }) => run(async (context) => setPassword(context, id, await readPassword())));
  user.command('list').action(() => run(showUsers));
  withId(user.command('grant')).action(({ id }: { id: number }) => run((admin) => changeApiAccess(admin, id, true)));
  withId(user.command('revoke')).action(({ id }: { id: number }) => run((admin) => changeApiAccess(admin, id, false)));

  program
    .command('console-link')
    .description('a link that signs in, once and within ten minutes')
    .option('--user <number>', 'default: the user of the running stack', parseId)
    .action(({ user: id }: { user?: number }) => run((admin) => makeConsoleLink(admin, id)));
}
