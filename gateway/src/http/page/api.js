// The gateway's own HTTP and WebSocket, and the token that is typed in once a session.

const KEY = 'colo.token';

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (text) => sessionStorage.setItem(KEY, text),
  forget: () => sessionStorage.removeItem(KEY),
};

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export async function ask(path, body) {
  const answer = await fetch(path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token.get() ?? ''}` },
    body: body && JSON.stringify(body),
    cache: 'no-store',
    signal: AbortSignal.timeout(body ? 5000 : 1500),
  });
  // An answer that breaks off is none, and not one without contents.
  const said = await answer.json().catch((error) => {
    if (answer.ok) throw error;
    return {};
  });
  if (!answer.ok) throw new Refused(answer.status, said.detail ?? answer.statusText);
  return said;
}

// A WebSocket that comes back, with what is wished for now.
export class Push {
  #socket = null;
  #wait = 500;
  #wishes;
  #hear;

  constructor(wishes, hear) {
    this.#wishes = wishes;
    this.#hear = hear;
    this.#open();
  }

  #open() {
    if (!token.get()) return void setTimeout(() => this.#open(), 500);
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/v1/ws`, ['colo.v1', `colo.token.${token.get()}`]);
    this.#socket = socket;
    socket.onopen = () => {
      this.#wait = 500;
      socket.send(JSON.stringify({ subscribe: this.#wishes() }));
    };
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.channel) this.#hear(message);
    };
    socket.onclose = () => {
      setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(this.#wait * 2, 5000);
    };
  }

  // Other wishes of the same channel.
  change(channel) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const subscribe = this.#wishes().filter((wish) => wish.channel === channel);
    this.#socket.send(JSON.stringify({ unsubscribe: [{ channel }], subscribe }));
  }

  leave() {
    this.#socket?.close();
  }
}
