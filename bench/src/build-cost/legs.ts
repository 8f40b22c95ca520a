// Where the time from the request for a build to its end goes.
import { setTimeout as delay } from 'node:timers/promises'
import { allFinished, createBuild, type Created } from './builds.ts'
import type { World } from './world.ts'

/** All times are milliseconds since the request. */
export interface Legs {
  answered: number[]
  runnable: number[]
  started: number[]
  command: number[]
  finished: number[]
}

export const noLegs = (): Legs => ({ answered: [], runnable: [], started: [], command: [], finished: [] })

interface Pace {
  title: string
  /** Builds that are requested at the same time. */
  atOnce: number
  /** Whether a pause follows the end of a build. */
  hasPause: boolean
}

export const paces: readonly Pace[] = [
  { title: 'with pauses', atOnce: 1, hasPause: true },
  { title: 'right after another', atOnce: 1, hasPause: false },
  { title: 'four at once', atOnce: 4, hasPause: false },
]

interface Requested extends Created {
  sentAt: number
  answeredAt: number
}

/** Adds to `legs`. Nothing is read before all builds have ended, because that would be a pause. */
export async function legsOfBuilds(
  world: World,
  pipeline: string,
  count: number,
  { atOnce, hasPause }: Pace,
  legs: Legs,
): Promise<void> {
  const requested: Requested[] = []
  while (requested.length < count) {
    requested.push(...(await Promise.all(Array.from({ length: atOnce }, () => request(world, pipeline)))))
    // Nothing is asked while the build runs. Random, so that builds do not coincide with anything regular.
    if (hasPause) await delay(80 + Math.random() * 40)
    await allFinished(world, hasPause ? 50 : 5)
  }
  for (const one of requested) await addLegs(world, pipeline, one, legs)
}

async function request({ api }: World, pipeline: string): Promise<Requested> {
  const sentAt = now()
  const created = await createBuild(api, pipeline)
  return { ...created, sentAt, answeredAt: now() }
}

interface JobTimes {
  id: string
  runnable_at: string | null
  started_at: string | null
  finished_at: string | null
}

async function addLegs(
  { api }: World,
  pipeline: string,
  { number, sentAt, answeredAt }: Requested,
  legs: Legs,
): Promise<void> {
  const build = `/pipelines/${pipeline}/builds/${number}`
  const { jobs } = await api<{ jobs: JobTimes[] }>('GET', build)
  const [job] = jobs
  if (job === undefined) throw new Error('The build has no job.')
  const log = await api<{ content: string }>('GET', `${build}/jobs/${job.id}/log`)
  const began = /began (\d+)[.,](\d+)/.exec(log.content)
  if (began === null) throw new Error('The command did not print its time.')
  const since = (time: string | null) => (time === null ? NaN : Date.parse(time) - sentAt)
  legs.answered.push(answeredAt - sentAt)
  legs.runnable.push(since(job.runnable_at))
  legs.started.push(since(job.started_at))
  legs.command.push(Number(`${began[1]}.${began[2]}`) * 1000 - sentAt)
  legs.finished.push(since(job.finished_at))
}

const now = () => performance.timeOrigin + performance.now()
