// A client of the Docker Engine API, which Podman serves too, with time limits and translated errors.
import { Agent, IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import Docker from 'dockerode'
import { Semaphore } from '../../lib/semaphore.ts'
import { HostedError, HostedNotFound, HostedRefused, HostedUnavailable, type Runner } from '../driver.ts'
import { withTimeLimit } from '../engine-request.ts'
import { label, type Kind, type Labels } from '../labels.ts'

export interface DockerSettings {
  socketPath: string
  installationId: string
  /** The prefix of the names of built images. */
  registry: string
  /** For work on volumes and the firewall. Needs a shell, chroot, cp and du. */
  helperImage: string
  /** `host:port` on the engine's machine that containers can reach; null: all of it, without a firewall. */
  allowed: readonly string[] | null
  runner: Runner | null
  /** A time limit for all requests but builds and pulls. */
  answerSeconds?: number
}

export interface Engine {
  installationId: string
  settings: DockerSettings
  isPodman: () => Promise<boolean>
  /** Sends one request, with a time limit, and throws its failure as a HostedError. */
  ask<T>(work: (docker: Docker, signal: AbortSignal) => Promise<T>, limitSeconds?: number): Promise<T>
}

/** Engines slow down under parallel requests: more at once take longer in total. Waiting here does not count as late. */
const mostAtOnce = 6

export function openEngine(settings: DockerSettings): Engine {
  const { socketPath, installationId, answerSeconds = 60 } = settings
  // The engine may close an idle connection just before the next request uses it.
  const agent = new Agent({ keepAlive: false })
  const options = { socketPath, agent }
  const docker = new Docker(options)
  const semaphore = new Semaphore(mostAtOnce)
  const askNow: Engine['ask'] = (work, limitSeconds = answerSeconds) =>
    withTimeLimit(limitSeconds, 'The engine', (signal) => work(docker, signal)).catch((error: unknown) => {
      throw toHostedError(error)
    })
  // Requests with a limit of their own mostly wait, so they take no place.
  const ask: Engine['ask'] = (work, limitSeconds) =>
    limitSeconds === undefined ? semaphore.run(() => askNow(work)) : askNow(work, limitSeconds)
  let isPodman: Promise<boolean> | null = null
  return {
    installationId,
    settings,
    ask,
    isPodman() {
      isPodman ??= ask(hasPodmanHeader).catch((error: unknown) => {
        isPodman = null
        throw error
      })
      return isPodman
    },
  }
}

/** Pings, because Podman's version request is slow: it asks the machine's package manager. */
const hasPodmanHeader = (docker: Docker): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const options = { path: '/_ping', method: 'GET', isStream: true, statusCodes: { 200: true } }
    docker.modem.dial(options, (error: unknown, answer: unknown) => {
      if (!(answer instanceof IncomingMessage)) return reject(error)
      answer.resume()
      resolve(answer.headers['libpod-api-version'] !== undefined)
    })
  })

/** A list filter for what this installation created. Podman filters wrongly by more than one label. */
export const ours = (engine: Engine): { label: string[] } => ({
  label: [`${label.installation}=${engine.installationId}`],
})

/** Podman fails a list when a container is deleted meanwhile, so the list is requested again. */
export async function listOurContainers(engine: Engine): Promise<Docker.ContainerInfo[]> {
  for (let tried = 1; ; tried++) {
    try {
      return await engine.ask((docker) => docker.listContainers({ all: true, filters: ours(engine) }))
    } catch (error) {
      const isPassing = error instanceof Error && error.message.includes('no such container')
      if (!isPassing || tried === 100) throw error
      await delay(50)
    }
  }
}

export const isKind = (kind: Kind, found: Labels | null | undefined): boolean => found?.[label.kind] === kind

/** Some engines' defaults are higher than their machine allows. */
export const ulimits = ['nofile', 'nproc'].map((Name) => ({ Name, Soft: 16_384, Hard: 16_384 }))

function statusOf(error: unknown): number | null {
  const status: unknown = error instanceof Error ? Reflect.get(error, 'statusCode') : undefined
  return typeof status === 'number' ? status : null
}

/** The engine's own message, without dockerode's additions. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const json: unknown = Reflect.get(error, 'json')
  const message: unknown =
    typeof json === 'object' && json !== null ? Reflect.get(json, 'message') : undefined
  return typeof message === 'string' ? message : error.message
}

function toHostedError(error: unknown): unknown {
  if (error instanceof HostedError) return error
  const status = statusOf(error)
  const [reason, cause] = [reasonOf(error), { cause: error }]
  // Podman answers 500 for a container or a volume that is deleted during the request.
  const isGone = status === 404 || (status === 500 && /no such (container|volume)/i.test(reason))
  if (isGone) return new HostedNotFound(reason, cause)
  if (status === 400 || status === 422) return new HostedRefused(reason, cause)
  return new HostedUnavailable(reason, cause)
}

export const causeStatus = (error: unknown): number | null =>
  error instanceof Error ? statusOf(error.cause) : null
