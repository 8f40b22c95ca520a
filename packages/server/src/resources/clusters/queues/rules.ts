import type { Limits } from '../../../hosted/driver.ts'
import { isImageName } from '../../../hosted/image-name.ts'
import { validationFailed } from '../../../lib/errors.ts'
import type { FairFields, QueueFields, QueueRow } from './queries.ts'
import { instanceShapes, type UpdateQueueBody } from './schema.ts'

export const mostQueues = 50

export interface InstanceShape {
  machine_type: 'linux' | 'macos'
  architecture: 'amd64' | 'arm64'
  cpu: number
  memory: number
  name: string
}

/** `LINUX_AMD64_2X4`: a Linux machine with 2 vCPUs and 4 GB. */
export function readShape(name: string): InstanceShape {
  const [, system, architecture, cpu, memory] =
    /^(LINUX|MACOS)_(AMD64|ARM64)_.*?(\d+)X(\d+)$/.exec(name) ?? []
  return {
    machine_type: system === 'MACOS' ? 'macos' : 'linux',
    architecture: architecture === 'ARM64' ? 'arm64' : 'amd64',
    cpu: Number(cpu),
    memory: Number(memory),
    name,
  }
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Hosted agents run the server's own Node binary, so they have its architecture. */
export const ownArchitecture = architectures[process.arch] ?? process.arch

const processesPerCpu = 1024

export const limitsOf = ({ cpu, memory }: InstanceShape): Limits => ({
  cpus: cpu,
  memoryMb: memory * 1024,
  processes: cpu * processesPerCpu,
})

export const isRunnable = ({ machine_type, architecture }: InstanceShape): boolean =>
  machine_type === 'linux' && architecture === ownArchitecture

/** The shapes that this installation can run, smallest first. */
export const runnableShapes = instanceShapes.filter((name) => isRunnable(readShape(name)))

export const runnableLimits: readonly Limits[] = runnableShapes.map((name) => limitsOf(readShape(name)))

/** The tags of a hosted queue's agents, besides the queue. */
export const hostedTags = ({ architecture, name }: InstanceShape): string[] => [
  'os=linux',
  `arch=${architecture}`,
  `shape=${name}`,
  'hosted=true',
]

/** The fields that a body sets, as columns. A queue's key and kind of machine never change. */
export function readFields(queue: QueueRow, body: UpdateQueueBody): Partial<QueueFields & FairFields> {
  if (body.key !== undefined && body.key !== queue.key) throw validationFailed('key cannot be changed')
  return {
    ...(body.description === undefined ? {} : { description: body.description || null }),
    ...(body.retry_agent_affinity === undefined ? {} : { retry_agent_affinity: body.retry_agent_affinity }),
    ...(body.price_per_minute === undefined ? {} : { price_micros: toMicros(body.price_per_minute) }),
    ...readFair(queue, body),
    ...(body.hostedAgents === undefined ? {} : readHosted(queue, body.hostedAgents)),
  }
}

/** Money is stored in millionths, so that sums are exact. */
export const toMicros = (amount: number): number => Math.round(amount * 1_000_000)

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

function readFair(
  queue: QueueRow,
  { fair_by, fair_weights, machine_limit_percent }: UpdateQueueBody,
): Partial<FairFields> {
  const fairBy = fair_by ?? queue.fair_by
  if (fairBy !== 'none' && queue.instance_shape !== null)
    throw validationFailed('fair_by cannot be set on a hosted queue')
  const limit = machine_limit_percent === undefined ? queue.machine_limit_percent : machine_limit_percent
  if (fairBy === 'none' && limit !== null)
    throw validationFailed('machine_limit_percent needs fair_by pipeline, team or creator')
  const wrong = Object.keys(fair_weights ?? {}).find((id) => !uuidPattern.test(id))
  if (wrong !== undefined)
    throw validationFailed(`fair_weights must name pipelines, teams or users by UUID: ${wrong}`)
  return {
    ...(fair_by === undefined ? {} : { fair_by }),
    ...(fair_weights === undefined ? {} : { fair_weights: JSON.stringify(fair_weights) }),
    ...(machine_limit_percent === undefined ? {} : { machine_limit_percent }),
  }
}

function readHosted(
  queue: QueueRow,
  { instanceShape = '', agentImageRef }: NonNullable<UpdateQueueBody['hostedAgents']>,
): Partial<QueueFields> {
  if (queue.instance_shape === null) {
    throw validationFailed('hostedAgents can only be set on a hosted queue, and a queue cannot become one')
  }
  if (!isSameMachine(queue.instance_shape, instanceShape)) {
    throw validationFailed(`Instance shape cannot be changed to ${instanceShape}`)
  }
  if (agentImageRef && readShape(queue.instance_shape).machine_type === 'macos') {
    throw validationFailed('Agent image ref cannot be configured for hosted mac queues')
  }
  if (agentImageRef && !isImageName(agentImageRef)) {
    throw validationFailed(
      'Agent image ref must be the name of an image, such as registry.example.com/tools:v1',
    )
  }
  return {
    instance_shape: instanceShape,
    ...(agentImageRef === undefined ? {} : { agent_image_ref: agentImageRef || null }),
  }
}

function isSameMachine(from: string, to: string): boolean {
  if (!instanceShapes.some((name) => name === to)) return false
  const [a, b] = [readShape(from), readShape(to)]
  return a.machine_type === b.machine_type && a.architecture === b.architecture
}

/** Whether this installation built the agent image. */
export const isBuiltHere = (registry: string, ref: string): boolean => ref.startsWith(`${registry}/`)
