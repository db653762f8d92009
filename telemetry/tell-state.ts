import type { Logger } from './logger.js';

/** Logs each change of the database's state. `cause` is the error that changed it, if one did. */
export function tellState(logger: Logger): (state: string, cause: unknown) => void {
  return (state, cause) => {
    if (state === 'well') logger.info({ database: state }, 'the database takes work again');
    else logger.error({ database: state, err: cause }, 'the database takes no work');
  };
}
