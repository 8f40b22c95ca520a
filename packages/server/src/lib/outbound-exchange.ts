// Sends one request and reads the beginning of its response, with undici's dispatcher: the streams and signals of its
// other calls cost more than the request itself.
import type { Dispatcher } from 'undici'

export interface ExchangeLimits {
  /** From the call to the status of the response. */
  timeoutMs: number
  /** From the status to the last byte that is read. */
  bodyMs: number
  keptBytes: number
}

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  isCut: boolean
}

export class TooLate extends Error {}

export const exchange = (
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Exchange(limits, resolve, reject))
  })

class Exchange implements Dispatcher.DispatchHandler {
  #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #answer: Omit<Answer, 'body' | 'isCut'> | undefined
  #chunks: Buffer[] = []
  #size = 0
  readonly #limits: ExchangeLimits
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: Error) => void

  constructor(limits: ExchangeLimits, resolve: (answer: Answer) => void, reject: (error: Error) => void) {
    this.#limits = limits
    this.#resolve = resolve
    this.#reject = reject
    this.#timer = setTimeout(() => this.#fail(new TooLate('No answer in time')), limits.timeoutMs)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It timed out while waiting for a connection, so nothing is sent.
    if (this.#isOver) controller.abort(new TooLate('No connection in time'))
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // Informational responses precede the final one.
    if (status < 200) return
    this.#answer = { status, headers }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#cut(), this.#limits.bodyMs)
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size > this.#limits.keptBytes) this.#cut()
  }

  onResponseEnd(): void {
    this.#finish(false)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    // After the status has arrived, a failure only truncates the body.
    if (this.#answer === undefined) this.#fail(error)
    else this.#finish(true)
  }

  #cut(): void {
    this.#finish(true)
    this.#controller?.abort(new Error('Enough was read'))
  }

  #finish(isCut: boolean): void {
    if (this.#isOver || this.#answer === undefined) return
    this.#end()
    const body = Buffer.concat(this.#chunks).subarray(0, this.#limits.keptBytes)
    this.#resolve({ ...this.#answer, body, isCut })
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#end()
    this.#reject(error)
    this.#controller?.abort(error)
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }
}
