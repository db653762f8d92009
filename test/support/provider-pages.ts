// A browser that goes through the pages of a provider: it keeps cookies, follows redirects, and sends forms.

const MOST_PAGES = 20;

/**
 * Continues from `url` until it is sent to another origin, and returns that address. Forms are sent with their hidden
 * fields, and with `fields` as a person's input.
 */
export async function walkProviderPages(url: string, fields: Record<string, string> = {}): Promise<URL> {
  const { origin } = new URL(url);
  const jar = new Map<string, string>();
  let next = new URL(url);
  let form: URLSearchParams | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    if (next.origin !== origin) return next;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(next, {
      redirect: 'manual',
      headers: { cookie },
      ...(form !== undefined && { method: 'POST', body: form }),
    });
    for (const text of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get('location');
    const page = await response.text();
    if (location !== null) {
      [next, form] = [new URL(location, next), undefined];
      continue;
    }
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    if (action === undefined) throw new Error(`the provider answers ${response.status}: ${page}`);
    const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const entered = Object.entries(fields).filter(([name]) => page.includes(`name="${name}"`));
    form = new URLSearchParams([
      ...hidden.map(([, name = '', value = '']): [string, string] => [name, value]),
      ...entered,
    ]);
    next = new URL(action, next);
  }
  throw new Error('the provider sends the browser in circles');
}
