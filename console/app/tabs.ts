// What the tabs of one browser tell each other about the session. Tokens are not among it.

type Message = { type: 'signed-out' } | { type: 'signed-in'; userId: number };

const channel = new BroadcastChannel('session');

export function tellTabs(message: Message): void {
  // A channel reaches its own origin alone, and takes no other.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(message);
}

export function listenToTabs(listener: (message: Message) => void): void {
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => listener(data));
}
