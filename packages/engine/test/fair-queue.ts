// A queue with agents, jobs that arrive, and a clock that only events move. The same jobs give the same history.
import { end as endJob, machineSlots, newShare } from '../src/fairness/shares.ts'
import { takeFairly, type FairJob, type FairQueue } from '../src/fairness/take.ts'

export interface Arriving extends FairJob {
  at: number
  takes: number
}

export interface Started extends Arriving {
  startedAt: number
  endsAt: number
}

interface Options {
  agents: number
  weights?: ReadonlyMap<string, number>
  machinePercent?: number
  /** Called after each job that is taken, with those that still wait. */
  onStart?(started: Started, waiting: readonly Arriving[], running: readonly Started[]): void
}

/** In the order in which they start. */
export function runFairly(jobs: readonly Arriving[], options: Options): Started[] {
  const { agents, weights, machinePercent, onStart = () => {} } = options
  let queue: FairQueue = {
    virtualTime: 0,
    shares: new Map([...(weights ?? [])].map(([share, weight]) => [share, newShare(weight)])),
    machines:
      machinePercent === undefined ? null : { running: 0, slots: machineSlots(machinePercent, agents) },
  }
  const charges = new Map<string, number>()
  return run(jobs, agents, {
    take(waiting, free, running, start) {
      const machines = queue.machines && {
        ...queue.machines,
        running: running.filter(({ isMachine }) => isMachine).length,
      }
      queue = takeFairly({ ...queue, machines }, waiting, {
        most: free,
        canRun: () => true,
        onTake(job, charge) {
          charges.set(job.id, charge)
          onStart(...start(job))
        },
      })
    },
    end({ id, share: key, takes }) {
      const share = queue.shares.get(key)
      const charge = charges.get(id)
      if (share === undefined || charge === undefined) throw new Error('A job ended that was never charged.')
      queue = { ...queue, shares: new Map(queue.shares).set(key, endJob(share, charge, takes)) }
    },
  })
}

export const runInOrder = (jobs: readonly Arriving[], agents: number): Started[] =>
  run(jobs, agents, {
    take(waiting, free, _running, start) {
      for (const job of waiting.slice(0, free)) start(job)
    },
    end() {},
  })

interface Policy {
  take(
    waiting: readonly Arriving[],
    free: number,
    running: readonly Started[],
    start: (job: Arriving) => [Started, Arriving[], Started[]],
  ): void
  end(job: Started): void
}

/** As in the database, only the first jobs of each group are looked at. */
class Line {
  private readonly groups = new Map<string, Arriving[]>()
  private readonly places = new Map<string, number>()

  add(jobs: readonly Arriving[]): void {
    for (const job of jobs) {
      const group = `${job.share} ${job.isMachine} ${job.priority}`
      const line = this.groups.get(group)
      if (line === undefined) this.groups.set(group, [job])
      else line.push(job)
      this.places.set(job.id, this.places.size)
    }
  }

  delete({ id }: Arriving): void {
    for (const jobs of this.groups.values()) {
      const at = jobs.findIndex((job) => job.id === id)
      if (at >= 0) jobs.splice(at, 1)
    }
  }

  /** In the order of the queue. */
  first(count: number): Arriving[] {
    const place = ({ id }: Arriving) => this.places.get(id) ?? 0
    return [...this.groups.values()]
      .flatMap((jobs) => jobs.slice(0, count))
      .toSorted((one, other) => place(one) - place(other))
  }
}

function run(jobs: readonly Arriving[], agents: number, { take, end }: Policy): Started[] {
  const coming = jobs.toSorted((one, other) => one.at - other.at)
  let arrived = 0
  const line = new Line()
  let running: Started[] = []
  const started: Started[] = []
  while (started.length < jobs.length || running.length > 0) {
    const now = Math.min(coming[arrived]?.at ?? Infinity, ...running.map(({ endsAt }) => endsAt))
    const ended = running.filter(({ endsAt }) => endsAt <= now)
    running = running.filter(({ endsAt }) => endsAt > now)
    ended.forEach(end)
    const before = arrived
    while (arrived < coming.length && (coming[arrived]?.at ?? Infinity) <= now) arrived += 1
    line.add(coming.slice(before, arrived))
    take(line.first(agents), agents - running.length, running, (job) => {
      const one = { ...job, startedAt: now, endsAt: now + job.takes }
      line.delete(job)
      running = [...running, one]
      started.push(one)
      return [one, line.first(1), running]
    })
  }
  return started
}
