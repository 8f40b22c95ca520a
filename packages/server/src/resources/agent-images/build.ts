// Builds agent images in the background. Each build is leased to one worker, which says again and again that it is
// at it; when a worker dies, another takes the build up from its beginning once the lease has run out.
import { once } from 'node:events'
import type { Context } from '../../context.ts'
import { HostedRefused, HostedUnavailable, type HostedDriver } from '../../hosted/driver.ts'
import { runnableLimits } from '../queues/rules.ts'
import { appendLog, clearLog, finishBuild, giveBack, leaseBuilds, renewLease } from './build-queries.ts'
import type { LeasedBuild } from './build-queries.ts'
import { composeDockerfile } from './rules.ts'

const leaseSeconds = 30
const renewMs = 8000
const flushMs = 500
const mostLogBytes = 1024 * 1024
/** With what lies between them, about two hours of an engine that cannot be reached. */
const mostAttempts = 30
const mostErrorLength = 10_000
const mostErrorLines = 50

/** Builds that this process is at, by context: the round that finds new ones does not wait for them. */
const running = new WeakMap<Context, Set<Promise<void>>>()

export async function buildImages(ctx: Context): Promise<void> {
  const [driver, settings] = [ctx.hosted, ctx.config.hosted]
  if (driver === null || settings === null) return
  const builds = await leaseBuilds(ctx.db, { most: settings.imageBuilds, seconds: leaseSeconds })
  const own = running.get(ctx) ?? new Set()
  running.set(ctx, own)
  for (const build of builds) {
    const work = buildOne(ctx, driver, build, settings.imageBuildMinutes)
      .catch((error: unknown) =>
        ctx.log.error({ err: error, agent_image_id: build.id }, 'An image build ended with an error.'),
      )
      .finally(() => own.delete(work))
    own.add(work)
  }
}

/** Until nothing is being built by this process. */
export async function finishedBuilds(ctx: Context): Promise<void> {
  const builds = running.get(ctx)
  if (builds !== undefined) await Promise.all(builds)
}

async function buildOne(
  ctx: Context,
  driver: HostedDriver,
  build: LeasedBuild,
  minutes: number,
): Promise<void> {
  const stopping = new AbortController()
  const tooLong = new HostedRefused(`The build took longer than ${minutes} minutes and was ended.`)
  const deadline = setTimeout(() => stopping.abort(tooLong), minutes * 60_000)
  const ended = new AbortController()
  const renewing = keepLease(ctx, build, stopping, ended.signal)
  await clearLog(ctx.db, build.id)
  const log = writeLog(ctx, build)
  try {
    await driver.buildImage({
      clusterId: build.clusterId,
      ref: build.ref,
      dockerfile: composeDockerfile(build.baseImage, build.dockerfile),
      limits: runnableLimits,
      onLog: log.write,
      signal: stopping.signal,
    })
    await log.end()
    if (!(await finishBuild(ctx.db, build, { status: 'READY' }))) await driver.deleteImage(build.ref)
  } catch (error) {
    await log.end()
    await settle(ctx, build, error, log.lastLines())
  } finally {
    clearTimeout(deadline)
    ended.abort()
    await renewing
  }
}

class LostLease extends Error {}

async function settle(ctx: Context, build: LeasedBuild, error: unknown, output: string): Promise<void> {
  if (error instanceof LostLease) return
  if (error instanceof HostedRefused) {
    await finishBuild(ctx.db, build, {
      status: 'FAILED',
      error: lastWords(withOutput(error.message, output)),
    })
    return
  }
  if (!(error instanceof HostedUnavailable)) {
    ctx.log.error(
      { err: error, agent_image_id: build.id },
      'An image build met an error that it does not know.',
    )
  }
  const reason = error instanceof Error ? error.message : String(error)
  if (build.attempts >= mostAttempts) {
    await finishBuild(ctx.db, build, {
      status: 'FAILED',
      error: lastWords(`The image builder could not be reached, ${build.attempts} times: ${reason}`),
    })
    return
  }
  await giveBack(ctx.db, build, Math.min(2 ** build.attempts, 300))
}

/** The builder's message names the command that failed; what the command wrote says why. */
const withOutput = (message: string, output: string) =>
  output.includes(message.trim()) ? output : `${output}\n${message}`

const lastWords = (message: string) => storable(message.trim()).slice(-mostErrorLength)

/** PostgreSQL keeps no NUL. */
const storable = (text: string) => text.replaceAll('\0', '\ufffd')

async function keepLease(
  ctx: Context,
  build: LeasedBuild,
  stopping: AbortController,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    await once(AbortSignal.any([ended, AbortSignal.timeout(renewMs)]), 'abort')
    if (ended.aborted) return
    // A database that is away for a moment is asked again before the lease runs out.
    const isOurs = await renewLease(ctx.db, build, leaseSeconds).catch(() => true)
    if (!isOurs) stopping.abort(new LostLease('The image is no longer ours to build.'))
  }
}

interface BuildLog {
  write(text: string): void
  /** The end of what was written, whole lines. */
  lastLines(): string
  end(): Promise<void>
}

/** Writes down what was said every so often, up to what a log may hold. */
function writeLog(ctx: Context, build: LeasedBuild): BuildLog {
  let [waiting, sequence, left, end] = ['', 0, mostLogBytes, '']
  let last: Promise<void> = Promise.resolve()
  const flush = () => {
    const body = storable(waiting)
    waiting = ''
    if (body === '') return
    const number = sequence++
    last = last
      .then(() => appendLog(ctx.db, build, number, body))
      .catch((error: unknown) =>
        ctx.log.warn({ err: error, agent_image_id: build.id }, 'A piece of an image build’s log was lost.'),
      )
  }
  const timer = setInterval(flush, flushMs)
  return {
    lastLines: () => end.split('\n').slice(-mostErrorLines).join('\n'),
    write(text) {
      end = (end + text).slice(-mostErrorLength)
      if (left <= 0) return
      left -= Buffer.byteLength(text)
      waiting += left > 0 ? text : '\n[What comes after this is not kept.]\n'
    },
    async end() {
      clearInterval(timer)
      flush()
      await last
    },
  }
}
