/** A wrong variable. The message is one sentence that names it, for the person who started the process. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
