// A TCP load balancer: round robin over the servers whose last answer to `/readyz` was 200. Those that do not answer again in
// time are used only if there is no other: on a slow machine that may be all of them. It never retries.
import { setTimeout as delay } from 'node:timers/promises'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export interface Balancer extends TcpProxy {
  url: string
  /** The number of servers in use. */
  ready(): number
  add(url: string): void
  delete(url: string): void
}

type State = 'ready' | 'slow' | 'down'

const checkEveryMs = 100
const answerMs = 1000

export async function startBalancer(): Promise<Balancer> {
  const states = new Map<string, State>()
  let count = 0
  const urlsOf = (state: State) => [...states].flatMap(([url, is]) => (is === state ? [url] : []))
  const proxy = await startTcpProxy(() => {
    const ready = urlsOf('ready')
    const urls = ready.length > 0 ? ready : urlsOf('slow')
    const url = urls[count++ % urls.length]
    return url === undefined ? null : Number(new URL(url).port)
  })
  const checking: Promise<void>[] = []
  const closing = new AbortController()
  /** Until the server is deleted. */
  const keepChecking = async (url: string) => {
    const set = (state: State) => void (states.has(url) && states.set(url, state))
    while (states.has(url)) {
      const answer = fetch(`${url}/readyz`, { signal: closing.signal }).then(async (response) => {
        await response.text()
        return response.status === 200 ? 'ready' : 'down'
      })
      // A server that said that it is not ready may be about to stop.
      const timer = setTimeout(() => states.get(url) === 'ready' && set('slow'), answerMs)
      set(await answer.catch(() => 'down'))
      clearTimeout(timer)
      await delay(checkEveryMs)
    }
  }
  return {
    ...proxy,
    url: `http://127.0.0.1:${proxy.port}`,
    ready: () => urlsOf('ready').length,
    add(url) {
      if (states.has(url)) return
      states.set(url, 'down')
      checking.push(keepChecking(url))
    },
    delete: (url) => void states.delete(url),
    async close() {
      states.clear()
      closing.abort()
      await Promise.all(checking)
      await proxy.close()
    },
  }
}
