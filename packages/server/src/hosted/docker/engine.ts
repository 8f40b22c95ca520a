// The Docker Engine API, which Podman serves too: one client, its time limits, and what its errors mean.
import { Agent, IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import Docker from 'dockerode'
import { Semaphore } from '../../lib/semaphore.ts'
import { HostedInUse, HostedNotFound, HostedRefused, HostedUnavailable } from '../driver.ts'

export interface Engine {
  docker: Docker
  installationId: string
  isPodman: () => Promise<boolean>
  /** Carries out one request, within the time an engine may take, and says its failure in our words. */
  ask<T>(work: (docker: Docker, signal: AbortSignal) => Promise<T>, limitSeconds?: number): Promise<T>
}

/** Of many requests at once each takes an engine longer than all of them one after the other; those that wait are not late. */
const mostAtOnce = 6

export function openEngine(socketPath: string, installationId: string, answerSeconds: number): Engine {
  // A connection that was kept and that the engine has closed meanwhile would fail the next request.
  const agent = new Agent({ keepAlive: false })
  // The client prints its agent for a log that nobody reads, at every request and with all its connections.
  Object.assign(agent, { [inspect.custom]: () => 'agent' })
  const options = { socketPath, agent }
  const docker = new Docker(options)
  const semaphore = new Semaphore(mostAtOnce)
  const askNow: Engine['ask'] = async (work, limitSeconds = answerSeconds) => {
    const signal = AbortSignal.timeout(limitSeconds * 1000)
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () =>
        reject(new HostedUnavailable('The engine did not answer in time.')),
      )
    })
    try {
      return await Promise.race([work(docker, signal), late])
    } catch (error) {
      throw inOurWords(error)
    }
  }
  // What has a limit of its own is mostly waiting.
  const ask: Engine['ask'] = (work, limitSeconds) =>
    limitSeconds === undefined ? semaphore.run(() => askNow(work)) : askNow(work, limitSeconds)
  let isPodman: Promise<boolean> | null = null
  return {
    docker,
    installationId,
    ask,
    isPodman() {
      isPodman ??= ask(nameItself).catch((error: unknown) => {
        isPodman = null
        throw error
      })
      return isPodman
    },
  }
}

/** By the header of its shortest answer: for its version Podman asks the machine's package manager about its parts. */
const nameItself = (docker: Docker): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const options = { path: '/_ping', method: 'GET', isStream: true, statusCodes: { 200: true } }
    docker.modem.dial(options, (error: unknown, answer: unknown) => {
      if (!(answer instanceof IncomingMessage)) return reject(error)
      answer.resume()
      resolve(answer.headers['libpod-api-version'] !== undefined)
    })
  })

export const label = {
  installation: 'millrace.installation',
  kind: 'millrace.kind',
  cluster: 'millrace.cluster',
  id: 'millrace.id',
} as const

export type Kind = 'container' | 'helper' | 'image' | 'network' | 'runner' | 'shared' | 'volume'

export const labels = (
  engine: Engine,
  kind: Kind,
  clusterId: string,
  id: string,
): Record<string, string> => ({
  [label.installation]: engine.installationId,
  [label.kind]: kind,
  [label.cluster]: clusterId,
  [label.id]: id,
})

/** For lists: what this installation made. By more than one label Podman finds too much, or nothing. */
export const ours = (engine: Engine): { label: string[] } => ({
  label: [`${label.installation}=${engine.installationId}`],
})

/** Podman fails a list when a container goes away meanwhile; asked again it has the answer. */
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

export const isKind = (kind: Kind, found: Record<string, string> | null | undefined): boolean =>
  found?.[label.kind] === kind

export const isOurs = (engine: Engine, found: Record<string, string> | null | undefined): boolean =>
  found?.[label.installation] === engine.installationId

export function statusOf(error: unknown): number | null {
  const status: unknown = error instanceof Error ? Reflect.get(error, 'statusCode') : undefined
  return typeof status === 'number' ? status : null
}

/** What the engine itself said, without what its client puts around it. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const json: unknown = Reflect.get(error, 'json')
  const message: unknown =
    typeof json === 'object' && json !== null ? Reflect.get(json, 'message') : undefined
  return typeof message === 'string' ? message : error.message
}

function inOurWords(error: unknown): unknown {
  if (
    error instanceof HostedRefused ||
    error instanceof HostedInUse ||
    error instanceof HostedNotFound ||
    error instanceof HostedUnavailable
  ) {
    return error
  }
  const status = statusOf(error)
  const [reason, cause] = [reasonOf(error), { cause: error }]
  // Podman says 500 of a container or a volume that is removed while it is asked about.
  const isGone = status === 404 || (status === 500 && /no such (container|volume)/i.test(reason))
  if (isGone) return new HostedNotFound(reason, cause)
  if (status === 400 || status === 422) return new HostedRefused(reason, cause)
  return new HostedUnavailable(reason, cause)
}

/** null instead of not there. */
export const orNull = (error: unknown): null => {
  if (error instanceof HostedNotFound) return null
  throw error
}

/** Nothing to do where it is not there any more. */
export const unlessGone = (error: unknown): void => {
  if (!(error instanceof HostedNotFound)) throw error
}

export const causeStatus = (error: unknown): number | null =>
  error instanceof Error ? statusOf(error.cause) : null
