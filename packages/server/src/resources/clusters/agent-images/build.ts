// Builds agent images in the background. Each build is leased to one worker, which renews the lease. When a worker dies,
// another restarts the build after the lease has ended.
import type { Context } from '../../../context.ts'
import { HostedRefused, HostedUnavailable, type HostedDriver } from '../../../hosted/driver.ts'
import { keepLease } from '../../../tasks/lease.ts'
import { runnableLimits } from '../queues/rules.ts'
import { appendLog, deleteLog, finishBuild, leaseBuilds, renewLease, retryLater } from './build-queries.ts'
import type { LeasedBuild } from './build-queries.ts'
import { composeDockerfile } from './rules.ts'

const leaseSeconds = 30
const renewMs = 8000
const flushMs = 500
const mostLogBytes = 1024 * 1024
const mostErrorLength = 10_000
const mostPauseSeconds = 300
const mostErrorLines = 50

/** Running builds of this process, by context. The poller that leases new ones does not wait for them. */
const running = new WeakMap<Context, Set<Promise<void>>>()

export async function buildImages(ctx: Context): Promise<void> {
  const [driver, settings] = [ctx.hosted, ctx.config.hosted]
  if (driver === null || settings === null) return
  const builds = await leaseBuilds(ctx, { most: settings.imageBuilds, seconds: leaseSeconds })
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

export async function waitForBuilds(ctx: Context): Promise<void> {
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
  const renewing = keepLease(ended.signal, renewMs, {
    renew: () => renewLease(ctx.db, build, leaseSeconds),
    onLost: () => stopping.abort(new LostLease('The image is no longer ours to build.')),
  })
  await deleteLog(ctx.db, build.id)
  const log = openLog(ctx, build)
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
    await handleFailure(ctx, build, error, { output: log.lastLines(), minutes })
  } finally {
    clearTimeout(deadline)
    ended.abort()
    await renewing
  }
}

class LostLease extends Error {}

/**
 * Fails the image if the builder refused it or the time is over; otherwise schedules a retry. Until then the image has the
 * engine's words, which say why it is not built yet.
 */
async function handleFailure(
  ctx: Context,
  build: LeasedBuild,
  error: unknown,
  { output, minutes }: { output: string; minutes: number },
): Promise<void> {
  if (error instanceof LostLease) return
  if (error instanceof HostedRefused) {
    await finishBuild(ctx.db, build, {
      status: 'FAILED',
      error: shorten(withOutput(error.message, output)),
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
  const seconds = Math.min(2 ** build.attempts, mostPauseSeconds)
  if (await retryLater(ctx.db, build, { seconds, minutes, error: shorten(reason) })) return
  const tries = build.attempts === 1 ? 'once' : `${build.attempts} times`
  const whole = `The build was tried ${tries} in ${minutes} minutes. The last answer: ${reason}`
  await finishBuild(ctx.db, build, { status: 'FAILED', error: shorten(withOutput(whole, output)) })
}

/** The builder's message names the failed command, and the command's output gives the reason. */
const withOutput = (message: string, output: string) =>
  output.includes(message.trim()) ? output : `${output}\n${message}`

const shorten = (message: string) => storable(message.trim()).slice(-mostErrorLength)

/** PostgreSQL cannot store NUL. */
const storable = (text: string) => text.replaceAll('\0', '\ufffd')

interface BuildLog {
  write(text: string): void
  lastLines(): string
  end(): Promise<void>
}

/** Stores the builder's output at intervals, up to the limit of a log. */
function openLog(ctx: Context, build: LeasedBuild): BuildLog {
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
