// Statements that every run executes several times are parsed and planned once a connection: those whose text begins
// with a comment that names them, such as `/* claim_node */`. A name stands for one text for ever.
import pg from 'pg';

const NAME = /^\/\* (\w+) \*\/\s/;

type Query = (...parameters: unknown[]) => unknown;

export class PreparingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const query = this.query.bind(this) as Query;
    this.query = ((...parameters: unknown[]) => {
      const [text, values, ...rest] = parameters;
      const name = typeof text === 'string' && Array.isArray(values) ? NAME.exec(text)?.[1] : undefined;
      return name === undefined ? query(...parameters) : query({ name, text, values }, ...rest);
    }) as typeof this.query;
  }
}
