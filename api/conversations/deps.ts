import type { RunEndDeps } from '../../acceptance/announce-run-end.js';
import type { Currencies } from '../../config/currencies.js';
import type { ByteBudget } from '../../memory/byte-budget.js';
import type { HeavyWork } from '../http/heavy-work.js';
import type { AcceptDeps } from '../runs/deps.js';
import type { UsageDeps } from '../usage/deps.js';

export type ConversationDeps = AcceptDeps &
  RunEndDeps &
  Pick<UsageDeps, 'models'> & {
    currencies: Currencies;
    memory: ByteBudget;
    heavyWork: HeavyWork;
  };
