// Splits the address of a database that lists several hosts, as libpq writes it.

/** The parts of `postgres://user@a:5432,b/database?option`. Joined with one host each they are plain addresses. */
interface HostList {
  /** Scheme and user: `postgres://user@`. */
  before: string;
  /** Hosts with their ports: `a:5432`, `b`. */
  hosts: string[];
  /** Database and options: `/database?option`. */
  after: string;
}

const PARTS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is;

export function splitHosts(url: string): HostList {
  const [, before = '', hosts = '', after = ''] = PARTS.exec(url) ?? [];
  return { before, hosts: hosts.split(','), after };
}

/** Returns a URL for each host, in the order of the list. An address without a list is returned as it is. */
export function toHostUrls(url: string): string[] {
  const { before, hosts, after } = splitHosts(url);
  return hosts.length === 1 ? [url] : hosts.map((host) => before + host + after);
}
