// Clients of a Kubernetes API server, with time limits and translated errors.
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
import { HostedError, HostedNotFound, HostedRefused, HostedUnavailable, type Runner } from '../driver.ts'
import { ignoreNotFound, nullIfNotFound, withTimeLimit } from '../engine-request.ts'
import { isOurs, label, type Kind } from '../labels.ts'
import { openRegistry, type Registry } from '../registry/registry.ts'

export interface Cluster {
  namespace: string
  installationId: string
  core: CoreV1Api
  batch: BatchV1Api
  networking: NetworkingV1Api
  custom: CustomObjectsApi
  registry: Registry
  settings: Required<KubernetesSettings>
  /** Aborts requests to the registry. */
  closing: AbortController
  /** Sends one request, with a time limit, and throws its failure as a HostedError. */
  ask<T>(work: (options: ConfigurationOptions) => Promise<T>): Promise<T>
}

export interface KubernetesSettings {
  namespace: string
  installationId: string
  /** A path; null: the service account of the pod that this process runs in. */
  kubeconfig: string | null
  /** The prefix of the names of built images. */
  registry: string
  isRegistryInsecure: boolean
  /** A secret of type kubernetes.io/dockerconfigjson. */
  registrySecret: string | null
  /** Nodes may use their own copy of it without asking the registry. */
  baseImage: string
  /** Rootless, with buildctl-daemonless.sh. */
  buildkitImage: string
  buildSeconds: number
  runner: Runner | null
  /** For a stronger sandbox such as gVisor; null: the cluster's default. */
  runtimeClass: string | null
  /** null: the cluster's default. */
  storageClass: string | null
  /** null: claims serve as snapshots. */
  snapshotClass: string | null
  /** A class whose volumes many nodes can mount at once; null: there is none. */
  sharedStorageClass: string | null
  sharedMb: number
  /** Private ranges that pods may reach. */
  outboundAllow: readonly string[]
  /** Run jobs even if the network does not isolate them. */
  isNetworkOpen: boolean
  /** Receives what makes jobs slow or unsafe. */
  warn(error: unknown, message: string): void
  /** The time limit of one request to the API server. */
  answerSeconds?: number
  /** From the request to the start of the command, including a new node and the pull of the image. */
  startSeconds?: number
  /** How long a node may take to kill a pod before it counts as dead. */
  stopSeconds?: number
  /** How long storage may take for a snapshot. */
  snapshotSeconds?: number
  /** How long to wait until a deleted shared claim is gone. A claim that a pod uses stays longer. */
  leavingSeconds?: number
}

const defaults = {
  answerSeconds: 30,
  // Shorter than the lifetime of the pod's token, which is five minutes.
  startSeconds: 240,
  stopSeconds: 30,
  snapshotSeconds: 300,
  leavingSeconds: 5,
}

export function openCluster(given: KubernetesSettings): Cluster {
  const settings = { ...defaults, ...given }
  const { namespace, installationId, kubeconfig, answerSeconds } = settings
  const config = new SharedAgentConfig()
  if (kubeconfig === null) config.loadFromCluster()
  else config.loadFromFile(kubeconfig)
  const closing = new AbortController()
  const cluster: Cluster = {
    namespace,
    installationId,
    settings,
    closing,
    core: config.makeApiClient(CoreV1Api),
    batch: config.makeApiClient(BatchV1Api),
    networking: config.makeApiClient(NetworkingV1Api),
    custom: config.makeApiClient(CustomObjectsApi),
    registry: openRegistry({
      prefix: settings.registry,
      isInsecure: settings.isRegistryInsecure,
      readCredentials: () => readCredentials(cluster),
      closing: closing.signal,
    }),
    ask: (work) =>
      withTimeLimit(answerSeconds, 'The Kubernetes API', (signal) => work(optionsOf(signal))).catch(
        (error: unknown) => {
          throw toHostedError(error)
        },
      ),
  }
  return cluster
}

async function readCredentials({ ask, core, namespace, settings }: Cluster): Promise<string | null> {
  const { registrySecret: name } = settings
  if (name === null) return null
  const { data } = await ask((options) => core.readNamespacedSecret({ namespace, name }, options))
  return Buffer.from(data?.['.dockerconfigjson'] ?? '', 'base64').toString('utf8') || null
}

/** Requests with the same credentials share connections. By default the client opens one for each request. */
class SharedAgentConfig extends KubeConfig {
  #shared: { agent: Agent; credentials: string } | null = null

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(context)
    const made = context.getAgent()
    // Proxies have their own kinds of agents.
    if (made?.constructor !== Agent && made?.constructor !== SecureAgent) return
    const options = Reflect.get(made, 'options') as AgentOptions
    const credentials = JSON.stringify(options)
    if (this.#shared?.credentials !== credentials) {
      const Kind = made instanceof SecureAgent ? SecureAgent : Agent
      this.#shared = { agent: new Kind({ ...options, keepAlive: true }), credentials }
    }
    context.setAgent(this.#shared.agent)
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

/** A list filter for what this installation created. */
export const ours = ({ installationId }: Cluster, kind: Kind): string =>
  `${label.installation}=${installationId},${label.kind}=${kind}`

/** null also if another installation owns it. */
export async function find<T extends { metadata?: V1ObjectMeta }>(
  cluster: Cluster,
  read: (options: ConfigurationOptions) => Promise<T>,
): Promise<T | null> {
  const found = await cluster.ask(read).catch(nullIfNotFound)
  return isOurs(cluster, found?.metadata?.labels) ? found : null
}

/** Does nothing if the object does not exist. */
export const deleteObject = (
  cluster: Cluster,
  request: (options: ConfigurationOptions) => Promise<unknown>,
): Promise<void> => cluster.ask(request).then(() => {}, ignoreNotFound)

/** Calls `look` at growing intervals until it returns a value; null when the time is up. */
export async function poll<T>(seconds: number, look: () => Promise<T | undefined>): Promise<T | null> {
  const end = Date.now() + seconds * 1000
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 1.5, 1000)) {
    const answer = await look()
    if (answer !== undefined) return answer
    if (Date.now() + pauseMs > end) return null
    await delay(pauseMs)
  }
}

function toHostedError(error: unknown): unknown {
  if (error instanceof HostedError) return error
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

/** `missing`: the kind of object that a 404 is about; null if the API itself is missing. */
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

/** For `catch`, after a creation. */
export const ignoreExisting = (error: unknown): void => {
  const exists = error instanceof Error && error.cause instanceof ApiException && error.cause.code === 409
  if (!exists) throw error
}
