// Counts the answers of each operation, and prints them.
import type { Attempt } from './requests/attempt.ts'
import type { Failure, Received } from './client.ts'
import type { Operation } from './operations/operation.ts'

interface Row {
  requests: number
  byStatus: Map<string, number>
  /** Some operations only say why they are not to be had, and document no success. */
  canSucceed: boolean
  /** The last answer to a request that should have succeeded. */
  refusal: string
}

export const outcomeOf = (answer: Received | Failure | null): string =>
  answer === null ? 'closed' : 'failure' in answer ? 'failed' : String(answer.status)

export class Coverage {
  readonly #rows = new Map<string, Row>()

  count({ operation, mode, path, body }: Attempt, answer: Received | Failure | null): void {
    const row = this.#rows.get(operation.id) ?? {
      requests: 0,
      byStatus: new Map<string, number>(),
      canSucceed: canSucceed(operation),
      refusal: '',
    }
    const outcome = outcomeOf(answer)
    row.requests += 1
    row.byStatus.set(outcome, (row.byStatus.get(outcome) ?? 0) + 1)
    if (mode === 'valid' && answer !== null && 'text' in answer && answer.status >= 400) {
      row.refusal = `${path} ${body?.toString().slice(0, 200) ?? ''}: ${answer.text.slice(0, 300)}`
    }
    this.#rows.set(operation.id, row)
  }

  /** The operations that document a success, were called and never succeeded, with the last answer to a valid request. */
  neverSucceeded(): string[] {
    return [...this.#rows]
      .filter(([, row]) => row.canSucceed && succeeded(row) === 0)
      .map(([id, { refusal }]) => `${id} never succeeded: ${refusal}`)
  }

  get requests(): number {
    return [...this.#rows.values()].reduce((sum, row) => sum + row.requests, 0)
  }

  lines(): string[] {
    const width = Math.max(0, ...[...this.#rows.keys()].map((id) => id.length))
    return [...this.#rows]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([id, row]) => {
        const share = `${Math.round((100 * succeeded(row)) / row.requests)}%`
        const statuses = [...row.byStatus].toSorted(([a], [b]) => a.localeCompare(b))
        const counts = statuses.map(([status, count]) => `${status}: ${count}`).join('  ')
        return `${id.padEnd(width)}  ${String(row.requests).padStart(6)}  ${share.padStart(4)}  ${counts}`
      })
  }

  total(): string {
    const all = new Map<string, number>()
    for (const { byStatus } of this.#rows.values())
      for (const [status, count] of byStatus) all.set(status, (all.get(status) ?? 0) + count)
    const sorted = [...all].toSorted(([a], [b]) => a.localeCompare(b))
    return sorted.map(([status, count]) => `${status}: ${count}`).join('  ')
  }
}

const canSucceed = ({ answers }: Operation): boolean =>
  answers === null || [...answers.keys()].some((status) => status < 400)

/** A redirect is the success of a page. */
const succeeded = ({ byStatus }: Row) =>
  [...byStatus].reduce((sum, [status, count]) => sum + (/^[23]/.test(status) ? count : 0), 0)
