// Measures recovery: triggers builds until one is acknowledged, and waits for the start of its command on a real runner.
import { setMaxListeners } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

export const probePipeline = 'probe'
export const probeQueue = 'probe'

/** The command writes when it started, in milliseconds of this machine's clock, to a file named after its build. */
export const probeSteps = (folder: string): string => `
env: {BUILDKITE_SKIP_CHECKOUT: "true"}
steps:
  - command: date +%s%3N > ${startsIn(folder)}/$$BUILDKITE_BUILD_NUMBER
    agents: {queue: ${probeQueue}}`

const startsIn = (folder: string): string => join(folder, 'starts')

const triggerEveryMs = 200
const answerMs = 30_000

interface ProbeSettings {
  /** The API's pipelines of the organization. */
  url: string
  token: string
  folder: string
}

export class Probe {
  private readonly settings: ProbeSettings

  constructor(settings: ProbeSettings) {
    this.settings = settings
    mkdirSync(startsIn(settings.folder), { recursive: true })
  }

  /** Milliseconds from `since` to the start of the first command of a build that was triggered after it; null: too long. */
  async measure(since: number, withinMs: number): Promise<number | null> {
    const deadline = since + withinMs
    const numbers = new Set<number>()
    const over = new AbortController()
    // Every request listens to it.
    setMaxListeners(0, over.signal)
    const triggering = this.trigger(numbers, over.signal)
    try {
      while (Date.now() < deadline) {
        for (const number of numbers) {
          const startedAt = this.findStart(number)
          if (startedAt !== null) return startedAt - since
        }
        await delay(20)
      }
      return null
    } finally {
      over.abort()
      await triggering
    }
  }

  /** Requests do not wait for each other, because one may take long when it arrives during a fault. */
  private async trigger(numbers: Set<number>, signal: AbortSignal): Promise<void> {
    const asked: Promise<void>[] = []
    while (!signal.aborted && numbers.size === 0) {
      const asking = this.createBuild(signal).then((number) => {
        if (number !== null) numbers.add(number)
      })
      asked.push(asking)
      await Promise.race([asking, delay(triggerEveryMs)])
      if (numbers.size === 0) await delay(triggerEveryMs / 4)
    }
    await Promise.all(asked)
  }

  /** On a connection of its own, like a new client. */
  private createBuild(signal: AbortSignal): Promise<number | null> {
    const { url, token } = this.settings
    const body = JSON.stringify({ commit: 'HEAD', branch: 'main', message: 'probe' })
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const asked = request(
        `${url}/${probePipeline}/builds`,
        { method: 'POST', headers, agent: false, signal, timeout: answerMs },
        (answer) => {
          text(answer).then(
            (said) =>
              resolve(answer.statusCode === 201 ? (JSON.parse(said) as { number: number }).number : null),
            () => resolve(null),
          )
        },
      )
      asked.on('timeout', () => asked.destroy())
      asked.on('error', () => resolve(null))
      asked.end(body)
    })
  }

  private findStart(number: number): number | null {
    try {
      const said = readFileSync(join(startsIn(this.settings.folder), String(number)), 'utf8').trim()
      return said === '' ? null : Number(said)
    } catch {
      return null
    }
  }
}
