// A Kubernetes API server: its clients, their time limits, and what its errors mean.
import { Agent } from 'node:http'
import { Agent as SecureAgent, type AgentOptions } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import {
  ApiException,
  BatchV1Api,
  CoreV1Api,
  CustomObjectsApi,
  HttpMethod,
  KubeConfig,
  NetworkingV1Api,
  Observable,
  PatchStrategy,
  type ConfigurationOptions,
  type RequestContext,
  type V1ObjectMeta,
} from '@kubernetes/client-node'
import { HostedNotFound, HostedRefused, HostedUnavailable } from '../driver.ts'

export interface Cluster {
  namespace: string
  installationId: string
  core: CoreV1Api
  batch: BatchV1Api
  networking: NetworkingV1Api
  custom: CustomObjectsApi
  /** Carries out one request, within the time the API server may take, and says its failure in our words. */
  ask<T>(work: (options: ConfigurationOptions) => Promise<T>): Promise<T>
}

export interface ClusterSettings {
  namespace: string
  installationId: string
  /** A path; null: the account that Kubernetes gives the pod this process runs in. */
  kubeconfig: string | null
  /** How long the API server may take for one request. */
  answerSeconds?: number
}

export function openCluster(settings: ClusterSettings): Cluster {
  const { namespace, installationId, answerSeconds = 30 } = settings
  const config = new LastingConfig()
  if (settings.kubeconfig === null) config.loadFromCluster()
  else config.loadFromFile(settings.kubeconfig)
  const ask: Cluster['ask'] = async (work) => {
    const signal = AbortSignal.timeout(answerSeconds * 1000)
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () =>
        reject(new HostedUnavailable('The Kubernetes API did not answer in time.')),
      )
    })
    try {
      return await Promise.race([work(optionsOf(signal)), late])
    } catch (error) {
      throw inOurWords(error)
    }
  }
  return {
    namespace,
    installationId,
    core: config.makeApiClient(CoreV1Api),
    batch: config.makeApiClient(BatchV1Api),
    networking: config.makeApiClient(NetworkingV1Api),
    custom: config.makeApiClient(CustomObjectsApi),
    ask,
  }
}

/** Requests share connections, as long as the credentials are the same; by itself it opens one for each. */
class LastingConfig extends KubeConfig {
  #kept: { agent: Agent; credentials: string } | null = null

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context)
    const made = context.getAgent()
    // Those that go through a proxy have agents of their own kind.
    if (made?.constructor !== Agent && made?.constructor !== SecureAgent) return
    const options = Reflect.get(made, 'options') as AgentOptions
    const credentials = JSON.stringify(options)
    if (this.#kept?.credentials !== credentials) {
      const Kind = made instanceof SecureAgent ? SecureAgent : Agent
      this.#kept = { agent: new Kind({ ...options, keepAlive: true }), credentials }
    }
    context.setAgent(this.#kept.agent)
  }
}

const optionsOf = (signal: AbortSignal): ConfigurationOptions => ({
  middleware: [
    {
      pre(context: RequestContext) {
        context.setSignal(signal)
        if (context.getHttpMethod() === HttpMethod.PATCH) {
          context.setHeaderParam('Content-Type', PatchStrategy.MergePatch)
        }
        return new Observable(Promise.resolve(context))
      },
      post: (context) => new Observable(Promise.resolve(context)),
    },
  ],
})

export const label = {
  installation: 'millrace.installation',
  kind: 'millrace.kind',
  cluster: 'millrace.cluster',
  id: 'millrace.id',
} as const

export type Kind =
  | 'build'
  | 'container'
  | 'equipped'
  | 'image'
  | 'policy'
  | 'probe'
  | 'runner'
  | 'shared'
  | 'volume'

export const labels = (
  { installationId }: Cluster,
  kind: Kind,
  clusterId: string,
  id: string,
): Record<string, string> => ({
  [label.installation]: installationId,
  [label.kind]: kind,
  [label.cluster]: clusterId,
  [label.id]: id,
})

/** For lists: what this installation made. */
export const ours = ({ installationId }: Cluster, kind: Kind): string =>
  `${label.installation}=${installationId},${label.kind}=${kind}`

/** null also for what another installation made. */
export async function find<T extends { metadata?: V1ObjectMeta }>(
  cluster: Cluster,
  read: (options: ConfigurationOptions) => Promise<T>,
): Promise<T | null> {
  const found = await cluster.ask(read).catch(orNull)
  return found?.metadata?.labels?.[label.installation] === cluster.installationId ? found : null
}

/** Asks again and again, ever less often, until there is an answer; null when the time is up. */
export async function poll<T>(seconds: number, look: () => Promise<T | undefined>): Promise<T | null> {
  const end = Date.now() + seconds * 1000
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 1.5, 1000)) {
    const answer = await look()
    if (answer !== undefined) return answer
    if (Date.now() + pauseMs > end) return null
    await delay(pauseMs)
  }
}

function inOurWords(error: unknown): unknown {
  if (
    error instanceof HostedRefused ||
    error instanceof HostedNotFound ||
    error instanceof HostedUnavailable
  ) {
    return error
  }
  const cause = { cause: error }
  if (!(error instanceof ApiException)) {
    const reason = error instanceof Error ? error.message : String(error)
    return new HostedUnavailable(`The Kubernetes API is not reached: ${reason}`, cause)
  }
  const { message, missing } = readStatus(error)
  if (error.code === 404 && missing !== null && missing !== 'namespaces') {
    return new HostedNotFound(message, cause)
  }
  if (error.code === 400 || error.code === 422) return new HostedRefused(message, cause)
  return new HostedUnavailable(message, cause)
}

/** `missing`: the kind of thing that a 404 is about; null where the API itself is not served. */
function readStatus({ code, body }: ApiException<unknown>): { message: string; missing: string | null } {
  const status: unknown = typeof body === 'string' ? parsed(body) : body
  const message = field(status, 'message')
  const missing = field(field(status, 'details'), 'kind')
  return {
    message: typeof message === 'string' ? message : `The Kubernetes API answered with ${code}.`,
    missing: typeof missing === 'string' ? missing : null,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { message: text.slice(0, 500) }
  }
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** null instead of not there. */
export const orNull = (error: unknown): null => {
  if (error instanceof HostedNotFound) return null
  throw error
}

/** Nothing to do where it is not there any more. */
export const unlessGone = (error: unknown): void => void orNull(error)

/** Nothing to do where it is there already. */
export const unlessThere = (error: unknown): void => {
  const isThere = error instanceof Error && error.cause instanceof ApiException && error.cause.code === 409
  if (!isThere) throw error
}
