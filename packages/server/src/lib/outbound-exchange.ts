// One request and the head of its answer, straight on the dispatcher: the streams and signals of the friendlier calls
// cost more than the request itself.
import type { Dispatcher } from 'undici'

export interface ExchangeLimits {
  /** From the call to the status of the answer. */
  timeoutMs: number
  /** From the status to the end of the body's head. */
  bodyMs: number
  keptBytes: number
}

export interface Answer {
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
    // Given up while it was waiting for a connection: nothing is sent.
    if (this.#isOver) controller.abort(new TooLate('No connection in time'))
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // What comes before the answer proper is not it.
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
    // The status has been heard, and that is what counts; of the rest we keep what came.
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
