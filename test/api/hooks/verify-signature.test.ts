// Compares api/hooks/verify-signature.ts with the libraries that senders and receivers of webhooks use.
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { sign as signAsGitHub, verify as verifyAsGitHub } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { toSvix } from './hook-sender.js';
import {
  checkHookSecret,
  createHookSecret,
  verifySignature,
  type SignatureRule,
  type Verdict,
} from '../../../api/hooks/verify-signature.js';

const NOW = 1_800_000_000;
const GITHUB = 'X-Hub-Signature-256';

interface Sent {
  headers: Record<string, string>;
  body?: string | Buffer;
  /** Seconds after `NOW`. */
  later?: number;
}

function judge(rule: SignatureRule, { headers, body = '', later = 0 }: Sent): Verdict {
  return verifySignature(rule, { headers, body: Buffer.from(body), nowMs: (NOW + later) * 1000 });
}

function standardHeaders(secret: string, body: string, { id = 'msg_1', time = NOW } = {}): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(time),
    'webhook-signature': new Webhook(secret).sign(id, new Date(time * 1000), body),
  };
}

const stripe = new Stripe('sk_test_nobody');
const stripeHeader = (secret: string, payload: string, timestamp = NOW): string =>
  stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });

describe('signatures of deliveries', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 200 });

  describe('Standard Webhooks', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const rule: SignatureRule = { verify: 'standard-webhooks', header: null, secret };

    it('the test vector of its libraries is right, with and without the prefix of the secret', () => {
      const headers = {
        'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'webhook-timestamp': '1614265330',
        'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      };
      const sent = { headers, body: '{"test": 2432232314}', later: 1_614_265_330 - NOW };
      assert.equal(judge(rule, sent), 'right');
      assert.equal(judge({ ...rule, secret: secret.slice('whsec_'.length) }, sent), 'right');
    });

    it('signatures of its library are right, and wrong with another body, id, time or secret', () => {
      fc.assert(
        fc.property(texts, fc.stringMatching(/^[\w-]{1,30}$/), (body, id) => {
          const headers = standardHeaders(secret, body, { id });
          const { 'webhook-signature': signature = '' } = headers;
          assert.equal(judge(rule, { headers, body }), 'right');
          const others: [SignatureRule, Sent][] = [
            [rule, { headers, body: `${body} ` }],
            [rule, { headers: { ...headers, 'webhook-id': `${id}x` }, body }],
            [rule, { headers: { ...headers, 'webhook-timestamp': String(NOW + 1) }, body }],
            [rule, { headers: { ...headers, 'webhook-signature': signature.replace('v1,', 'v2,') }, body }],
            [rule, { headers: { ...headers, 'webhook-signature': signature.slice(0, -2) }, body }],
            [
              { ...rule, secret: `whsec_${randomBytes(24).toString('base64')}` },
              { headers, body },
            ],
          ];
          for (const [other, sent] of others) assert.equal(judge(other, sent), 'wrong');
        }),
        { numRuns: 50 },
      );
    });

    it('one of several signatures is enough', () => {
      const headers = standardHeaders(secret, 'body');
      const signature = headers['webhook-signature']!;
      const other = new Webhook(randomBytes(24).toString('base64')).sign('msg_1', new Date(NOW * 1000), 'body');
      for (const given of [`${other} ${signature}`, `${signature} ${other}`, `v1a,AAAA ${signature}`]) {
        assert.equal(judge(rule, { headers: { ...headers, 'webhook-signature': given }, body: 'body' }), 'right');
      }
      assert.equal(judge(rule, { headers: { ...headers, 'webhook-signature': other }, body: 'body' }), 'wrong');
    });

    it('a right signature is stale if its time differs by more than 5 minutes', () => {
      const headers = standardHeaders(secret, 'body');
      const at = (later: number): Verdict => judge(rule, { headers, body: 'body', later });
      assert.deepEqual([300, 301, -300, -301].map(at), ['right', 'stale', 'right', 'stale']);
    });

    it('a wrong signature is wrong and not stale, however old it is', () => {
      assert.equal(judge(rule, { headers: standardHeaders(secret, 'body'), body: 'other', later: 900 }), 'wrong');
    });

    it('the headers of Svix count if all headers of Standard Webhooks are absent', () => {
      const headers = toSvix(standardHeaders(secret, 'body'));
      assert.deepEqual(Object.keys(headers), ['svix-id', 'svix-timestamp', 'svix-signature']);
      assert.equal(judge(rule, { headers, body: 'body' }), 'right');
      assert.equal(judge(rule, { headers: { ...standardHeaders(secret, 'body'), ...headers }, body: 'body' }), 'right');
      assert.equal(judge(rule, { headers: { ...headers, 'svix-id': 'msg_2' }, body: 'body' }), 'wrong');
      assert.equal(judge(rule, { headers: { ...headers, 'webhook-id': 'msg_1' }, body: 'body' }), 'wrong');
      assert.equal(judge(rule, { headers, body: 'body', later: 301 }), 'stale');
    });

    it('each of the three headers is needed, and the time must be a number', () => {
      const headers = standardHeaders(secret, 'body');
      for (const name of Object.keys(headers)) {
        assert.equal(judge(rule, { headers: { ...headers, [name]: '' }, body: 'body' }), 'wrong', name);
        const { [name]: _, ...left } = headers;
        assert.equal(judge(rule, { headers: left, body: 'body' }), 'wrong', name);
      }
      for (const time of ['NaN', `${NOW}.0`, ` ${NOW}`, `-${NOW}`, `${NOW}x`, '9'.repeat(40)]) {
        const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
        const signature = createHmac('sha256', key).update(`msg_1.${time}.body`).digest('base64');
        const signed = { ...headers, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` };
        assert.equal(judge(rule, { headers: signed, body: 'body' }), 'wrong', time);
      }
    });

    it('a secret that the service makes works with its library', () => {
      const made = createHookSecret('standard-webhooks');
      checkHookSecret('standard-webhooks', made);
      const headers = standardHeaders(made, 'body');
      assert.equal(judge({ ...rule, secret: made }, { headers, body: 'body' }), 'right');
    });
  });

  describe('GitHub', () => {
    const rule = (secret: string, header = GITHUB): SignatureRule => ({ verify: 'hmac-sha256', header, secret });

    it("the test vector of GitHub's documentation is right", () => {
      const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
      const sent = { headers: { 'x-hub-signature-256': signature }, body: 'Hello, World!' };
      assert.equal(judge(rule("It's a Secret to Everybody"), sent), 'right');
    });

    it('signatures of Octokit are right, others are wrong, and Octokit accepts signatures like ours', async () => {
      const nonEmpty = texts.filter((text) => text !== '');
      await fc.assert(
        fc.asyncProperty(nonEmpty, nonEmpty, async (secret, body) => {
          const signature = await signAsGitHub(secret, body);
          const given = { 'x-hub-signature-256': signature };
          assert.equal(judge(rule(secret), { headers: given, body }), 'right');
          assert.equal(judge(rule(secret), { headers: given, body: `${body}\n` }), 'wrong');
          assert.equal(judge(rule(`${secret}x`), { headers: given, body }), 'wrong');
          const ours = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
          assert.equal(await verifyAsGitHub(secret, body, ours), true);
        }),
        { numRuns: 50 },
      );
    });

    it('any header may contain the signature, in any case of its letters', async () => {
      const headers = { 'x-signature': (await signAsGitHub('secret', 'body')).toUpperCase() };
      assert.equal(judge(rule('secret', 'X-SIGNATURE'), { headers, body: 'body' }), 'right');
      assert.equal(judge(rule('secret'), { headers, body: 'body' }), 'wrong');
    });

    it('bytes that are no text are signed as they are', () => {
      const body = randomBytes(1000);
      const headers = { 'x-hub-signature-256': `sha256=${createHmac('sha256', 'secret').update(body).digest('hex')}` };
      assert.equal(judge(rule('secret'), { headers, body }), 'right');
      body[0] = (body[0] ?? 0) ^ 1;
      assert.equal(judge(rule('secret'), { headers, body }), 'wrong');
    });

    it('a missing or other prefix, missing digits and two signatures are wrong', async () => {
      const signature = await signAsGitHub('secret', 'body');
      const digits = signature.slice('sha256='.length);
      for (const given of [digits, `sha1=${digits}`, `sha256=${digits.slice(1)}`, `${signature}, ${signature}`, '']) {
        assert.equal(judge(rule('secret'), { headers: { 'x-hub-signature-256': given }, body: 'body' }), 'wrong');
      }
      assert.equal(judge(rule('secret'), { headers: {}, body: 'body' }), 'wrong');
    });

    it('secrets that the service makes are long, and differ', () => {
      const made = [createHookSecret('hmac-sha256'), createHookSecret('hmac-sha256')];
      assert.ok(made.every((secret) => /^[0-9a-f]{64}$/.test(secret)) && made[0] !== made[1]);
    });
  });

  describe('Stripe', () => {
    const secret = 'whsec_stripe_shows_this';
    const rule: SignatureRule = { verify: 'hmac-sha256', header: 'Stripe-Signature', secret };
    const sent = (header: string, body: string, later = 0): Sent => ({
      headers: { 'stripe-signature': header },
      body,
      later,
    });

    it('signatures of its library are right, here and for the library itself', () => {
      fc.assert(
        fc.property(fc.json(), (body) => {
          const header = stripeHeader(secret, body);
          assert.equal(judge(rule, sent(header, body)), 'right');
          assert.deepEqual(
            stripe.webhooks.constructEvent(body, header, secret, 300, undefined, NOW * 1000),
            JSON.parse(body),
          );
          assert.equal(judge(rule, sent(header, `${body} `)), 'wrong');
          assert.equal(judge({ ...rule, secret: 'whsec_other' }, sent(header, body)), 'wrong');
          assert.equal(judge(rule, sent(header.replace(`t=${NOW}`, `t=${NOW + 1}`), body)), 'wrong');
        }),
        { numRuns: 50 },
      );
    });

    it('one of several signatures is enough, whatever schemes the others have', () => {
      const [time, right] = stripeHeader(secret, '{}').split(',') as [string, string];
      const wrong = `v1=${'0'.repeat(64)}`;
      for (const header of [`${time},${wrong},${right}`, `${time},${right},v0=abc`, `${right},${time}`]) {
        assert.equal(judge(rule, sent(header, '{}')), 'right', header);
      }
      for (const header of [`${time},${wrong}`, right, time, `${time},${right.replace('v1', 'v0')}`, '', 'x']) {
        assert.equal(judge(rule, sent(header, '{}')), 'wrong', header);
      }
      assert.equal(judge(rule, sent(`t=1,${time},${right}`, '{}')), 'wrong', 'two times');
    });

    it('a right signature is stale if its time differs by more than 5 minutes', () => {
      const header = stripeHeader(secret, '{}');
      const verdicts = [300, 301, -300, -301].map((later) => judge(rule, sent(header, '{}', later)));
      assert.deepEqual(verdicts, ['right', 'stale', 'right', 'stale']);
    });
  });

  it('a hook that needs no signature accepts every delivery', () => {
    assert.equal(judge({ verify: 'none', header: null, secret: null }, { headers: {} }), 'right');
  });

  it('a secret of Standard Webhooks must be base64', () => {
    for (const secret of ['whsec_', 'whsec_?', 'abc', 'a===', 'whsec_AAAA AAAA', 'AAAA=']) {
      assert.throws(() => checkHookSecret('standard-webhooks', secret), /Invalid input/, secret);
      checkHookSecret('hmac-sha256', secret);
    }
  });
});
