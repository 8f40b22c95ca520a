// One request over real HTTP. It costs a third of the CPU time of fetch, which counts in thousands of tests.
import type { Dispatcher } from 'undici'

export interface Exchanged {
  status: number
  headers: RawHeaders
  text: string
}

type RawHeaders = Record<string, string | string[] | undefined>

export function exchange(server: Dispatcher, options: Dispatcher.DispatchOptions): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const exchanged: Exchanged = { status: 0, headers: {}, text: '' }
    const chunks: Buffer[] = []
    server.dispatch(options, {
      onRequestStart: () => {},
      onResponseStart(_, status, headers) {
        Object.assign(exchanged, { status, headers })
      },
      onResponseData: (_, chunk) => void chunks.push(chunk),
      onResponseEnd: () => resolve({ ...exchanged, text: Buffer.concat(chunks).toString() }),
      onResponseError: (_, error) => reject(error),
    })
  })
}

export function asHeaders(given: RawHeaders): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(given)) {
    for (const value of [values ?? []].flat()) headers.append(name, value)
  }
  return headers
}
