// A fake Kubernetes cluster over the objects of the API server: a node that runs pods on the in-memory engine, storage that
// binds claims when a pod first uses them, and the controllers of jobs and snapshots. Each can be made to fail.
import { randomUUID } from 'node:crypto'
import type { V1Container, V1ContainerState, V1ContainerStatus, V1Pod } from '@kubernetes/client-node'
import { HostedNotFound, HostedRefused, type HostedDriver, type Mount } from '../../../src/hosted/driver.ts'
import type { MemoryEngine } from '../memory-engine.ts'
import type { ApiServer, Controllers, LogLine } from './api-server.ts'
import type { Kinds, Plural, Store } from './store.ts'
import { digestOf, type TestRegistry } from './registry.ts'

/** The contents of the base image's layer in the registry. */
export const baseLayer = 'base'

interface Misbehaviour {
  /** Pods do not change, as if there were no node, or as if it had died. */
  hasNoNode: boolean
  /** The node's error for every image. */
  pullError: string | null
  claimsBind: boolean
  snapshotsWork: boolean
  /** Pods are evicted as soon as they are created. */
  evicts: boolean
  /** Pods of builds are evicted during the build. */
  buildsEvicted: boolean
  /** The network ignores policies. */
  ignoresPolicies: boolean
}

const wellBehaved: Misbehaviour = {
  hasNoNode: false,
  pullError: null,
  claimsBind: true,
  snapshotsWork: true,
  evicts: false,
  buildsEvicted: false,
  ignoresPolicies: false,
}

export class TestCluster implements Controllers {
  misbehaving: Misbehaviour = { ...wellBehaved }
  readonly #store: Store
  readonly #node: HostedDriver
  readonly #registry: TestRegistry
  readonly #logs = new Map<string, LogLine[]>()
  readonly #builds = new Map<string, AbortController>()
  #nanoseconds = 0

  constructor(api: ApiServer, engine: MemoryEngine, registry: TestRegistry) {
    this.#store = api.store
    this.#node = engine.open(randomUUID())
    this.#registry = registry
    api.controllers = this
  }

  behave(): void {
    this.misbehaving = { ...wellBehaved }
  }

  created(plural: Plural, name: string): void {
    if (plural === 'pods') void this.#run(name)
    if (plural === 'jobs') void this.#runJob(name)
    if (plural === 'persistentvolumeclaims') {
      this.#store.update('persistentvolumeclaims', name, (claim) => ({
        ...claim,
        status: { phase: 'Pending' },
      }))
    }
    if (plural === 'volumesnapshots') void this.#takeSnapshot(name)
  }

  deleted(plural: Plural, name: string, graceSeconds: number | null): void {
    if (plural === 'pods' && graceSeconds !== 0) this.#leave('pods', name)
    if (plural === 'pods') return void this.#kill(name, graceSeconds === 0)
    if (plural === 'persistentvolumeclaims') {
      this.#leave('persistentvolumeclaims', name)
      return void this.#releaseClaims()
    }
    if (plural === 'jobs') this.deleted('pods', `${name}-pod`, 1)
    if (plural === 'volumesnapshots') void this.#node.deleteSnapshot(name)
    this.#store.delete(plural, name)
  }

  /** Updates the status of pods whose container has exited. */
  async read<P extends Plural>(plural: P, object: Kinds[P]): Promise<Kinds[P]> {
    if (plural !== 'pods' || this.misbehaving.hasNoNode) return object
    const { metadata = {}, status } = object as V1Pod
    const [job] = status?.containerStatuses ?? []
    if (job?.state?.running === undefined || job.name !== 'job') return object
    const found = (await this.#node.listContainers()).find(({ id }) => id === metadata.uid)
    if (found === undefined || found.exitStatus === null) return object
    this.#say(metadata.name ?? '', 'job', await this.#node.readOutput(found.id))
    this.#setState(metadata.name ?? '', 'job', {
      terminated: { exitCode: found.exitStatus, reason: found.exitStatus === 0 ? 'Completed' : 'Error' },
    })
    return this.#store.get(plural, metadata.name ?? '')
  }

  async log(pod: string, container: string): Promise<LogLine[]> {
    return this.#logs.get(`${pod}/${container}`) ?? []
  }

  /** As the controller does after `ttlSecondsAfterFinished`. */
  deleteFinishedJobs(): void {
    for (const { metadata, spec } of this.#store.list('jobs')) {
      const name = metadata?.name ?? ''
      const { phase = '' } = this.#store.find('pods', `${name}-pod`)?.status ?? {}
      const isOver = ['Succeeded', 'Failed'].includes(phase)
      if (isOver && spec?.ttlSecondsAfterFinished !== undefined) this.deleted('jobs', name, null)
    }
  }

  /** As the kubelet does when its node has no memory left. */
  evict(name: string): void {
    this.#store.update('pods', name, (pod) => ({
      ...pod,
      status: { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' },
    }))
    const uid = this.#store.find('pods', name)?.metadata?.uid
    if (uid !== undefined) void this.#node.stopContainer(uid)
  }

  async #run(name: string): Promise<void> {
    const pod = this.#store.get('pods', name)
    this.#store.put('pods', { ...pod, status: { phase: 'Pending' } })
    if (this.misbehaving.hasNoNode) return this.#unschedulable(name, '0/1 nodes are available.')
    if (this.misbehaving.evicts) return this.evict(name)
    const claims = (pod.spec?.volumes ?? []).flatMap(
      (volume) => volume.persistentVolumeClaim?.claimName ?? [],
    )
    for (const claim of claims) {
      if (!(await this.#bind(claim))) return this.#unschedulable(name, `pod has an unbound claim ${claim}`)
    }
    const [container] = pod.spec?.containers ?? []
    if (container === undefined) return
    const pullError = this.misbehaving.pullError ?? this.#whyNotPulled(container.image ?? '')
    if (pullError !== null) {
      return this.#setState(name, container.name, { waiting: { reason: 'ErrImagePull', message: pullError } })
    }
    if (container.name === 'probe') return this.#probe(name, container)
    await this.#start(pod, container)
  }

  /** One of the two pods that probe the network. */
  #probe(name: string, { command = [] }: V1Container): void {
    const { ignoresPolicies } = this.misbehaving
    if (!command.at(-1)?.includes('.listen(')) {
      const terminated = { exitCode: ignoresPolicies ? 3 : 0, reason: 'Completed' }
      return this.#setState(name, 'probe', { terminated })
    }
    this.#store.update('pods', name, (pod) => ({ ...pod, status: { phase: 'Running', podIP: '10.1.0.9' } }))
    this.#say(name, 'probe', 'The probe listens.')
  }

  async #start(pod: V1Pod, container: V1Container): Promise<void> {
    const name = pod.metadata?.name ?? ''
    const { mounts, clusterId } = this.#mountsOf(pod, container)
    try {
      await this.#node.startContainer({
        id: pod.metadata?.uid ?? '',
        clusterId,
        image: this.#heldAs(container.image ?? ''),
        command: (container.command ?? []).map(expand),
        environment: Object.fromEntries(
          (container.env ?? []).map(({ name: key, value }) => [key, expand(value ?? '')]),
        ),
        limits: { cpus: 1, memoryMb: 1, processes: 1 },
        mounts,
      })
      this.#setState(name, container.name, { running: { startedAt: new Date() } })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (error instanceof HostedRefused) {
        const terminated = {
          exitCode: 128,
          reason: 'StartError',
          message: `exec: executable file not found: ${message}`,
        }
        return this.#setState(name, container.name, { terminated })
      }
      if (!(error instanceof HostedNotFound)) throw error
      this.#setState(name, container.name, {
        waiting: { reason: 'ErrImagePull', message: `${message} not found` },
      })
    }
  }

  /** The engine's shared volumes can be mounted read-only; other volumes are for one container. */
  #mountsOf(pod: V1Pod, container: V1Container): { mounts: Mount[]; clusterId: string } {
    let clusterId = 'none'
    const mounts = (container.volumeMounts ?? []).flatMap(
      ({ name, mountPath, readOnly = false }): Mount[] => {
        const volume = pod.spec?.volumes?.find((one) => one.name === name)
        const id = volume?.persistentVolumeClaim?.claimName
        if (id === undefined) return []
        if (!this.#isShared(id)) return [{ kind: 'volume', id, path: mountPath }]
        clusterId = id
        return [{ kind: 'git_mirror', path: mountPath, readOnly }]
      },
    )
    return { mounts, clusterId }
  }

  #isShared(claim: string): boolean {
    const { spec } = this.#store.get('persistentvolumeclaims', claim)
    return spec?.accessModes?.includes('ReadWriteMany') ?? false
  }

  /** Whether the claim is bound. */
  async #bind(name: string): Promise<boolean> {
    const claim = this.#store.find('persistentvolumeclaims', name)
    if (claim === undefined || !this.misbehaving.claimsBind) return false
    if (claim.status?.phase === 'Bound') return true
    const { kind, name: source = null } = claim.spec?.dataSource ?? {}
    if (this.#isShared(name)) await this.#node.setGitMirror(name, true)
    else {
      if (kind === 'PersistentVolumeClaim' && source !== null) await this.#node.snapshotVolume(source)
      await this.#node.attachVolume({ id: name, clusterId: 'any', from: source, sizeMb: 1 })
      if (kind === 'PersistentVolumeClaim' && source !== null) await this.#node.deleteSnapshot(source)
    }
    const capacity = claim.spec?.resources?.requests ?? {}
    this.#store.update('persistentvolumeclaims', name, (one) => ({
      ...one,
      status: { phase: 'Bound', capacity },
    }))
    return true
  }

  #whyNotPulled(image: string): string | null {
    const [ref = '', digest] = image.split('@')
    if (digest === undefined || this.#registry.has(ref, digest)) return null
    return `rpc error: code = NotFound desc = failed to resolve reference "${image}": ${image}: not found`
  }

  /** Finds an image by the lowest layer of its digest; the layers above make no difference here. */
  #heldAs(image: string): string {
    const [ref = '', digest] = image.split('@')
    if (digest === undefined) return ref.replace(/^.*\/(?=base:)/, '')
    const lowest = this.#registry.layersOf(ref, digest)[0] ?? ''
    return lowest === digestOf(baseLayer) ? 'base:1' : lowest
  }

  async #takeSnapshot(name: string): Promise<void> {
    const { spec } = this.#store.get('volumesnapshots', name)
    const claim = spec.source.persistentVolumeClaimName
    if (!this.misbehaving.snapshotsWork) {
      const status = { readyToUse: false, error: { message: 'the storage has no room for a snapshot' } }
      return this.#store.update('volumesnapshots', name, (one) => ({ ...one, status }))
    }
    await this.#bind(claim)
    await this.#node.snapshotVolume(claim)
    const restoreSize =
      this.#store.find('persistentvolumeclaims', claim)?.spec?.resources?.requests?.['storage'] ?? '1Gi'
    this.#store.update('volumesnapshots', name, (one) => ({
      ...one,
      status: { readyToUse: true, restoreSize },
    }))
  }

  async #runJob(name: string): Promise<void> {
    const job = this.#store.get('jobs', name)
    const { metadata, spec } = job.spec?.template ?? {}
    if (spec === undefined) return
    const pod = `${name}-pod`
    if (this.#store.find('pods', pod) !== undefined) return
    const { labels = {}, annotations = {} } = metadata ?? {}
    this.#store.create('pods', {
      metadata: { name: pod, labels, annotations },
      spec,
      status: { phase: 'Pending' },
    })
    if (this.misbehaving.hasNoNode) return this.#unschedulable(pod, '0/1 nodes are available.')
    const stopping = new AbortController()
    this.#builds.set(pod, stopping)
    for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
      if (stopping.signal.aborted) return
      this.#setState(pod, container.name, { running: { startedAt: new Date() } })
      if (this.misbehaving.buildsEvicted && container.name === 'build') return this.evict(pod)
      const terminated = await this.#runBuilder(pod, container, metadata?.annotations ?? {}, stopping.signal)
      this.#setState(pod, container.name, { terminated })
      if (terminated.exitCode !== 0) return
    }
  }

  /** Runs BuildKit's part in the three containers: reads the base image, builds, pushes to the registry. */
  async #runBuilder(
    pod: string,
    { name, env = [] }: V1Container,
    dockerfiles: Record<string, string>,
    signal: AbortSignal,
  ): Promise<{ exitCode: number; reason: string; message?: string }> {
    const ref = env.find((one) => one.name === 'REF')?.value ?? ''
    const base = (dockerfiles['millrace.dockerfile-base'] ?? '').trim()
    const layer = `${pod} ${this.#store.get('pods', pod).metadata?.uid}`
    const onLog = (text: string) => this.#say(pod, name, text)
    const build = (instructions: string, made: string) =>
      this.#node.buildImage({
        clusterId: 'any',
        ref: made,
        dockerfile: `${base}\n${instructions}`,
        limits: [],
        onLog,
        signal,
      })
    try {
      if (name === 'base') await build('', `${pod}-base`)
      const instructions = (dockerfiles['millrace.dockerfile-build'] ?? '').replace(/^FROM base\n/, '')
      if (name === 'build') await build(instructions, digestOf(layer))
      const pushed = name === 'push' ? { message: `${this.#registry.add(ref, layer)}\n` } : {}
      return { exitCode: 0, reason: 'Completed', ...pushed }
    } catch (error) {
      if (signal.aborted) return { exitCode: 137, reason: 'Error' }
      const message = error instanceof Error ? error.message : String(error)
      onLog(`error: failed to solve: ${name === 'base' ? `${base}: not found` : message}`)
      return { exitCode: 1, reason: 'Error' }
    } finally {
      if (name === 'base') await this.#node.deleteImage(`${pod}-base`)
    }
  }

  async #kill(name: string, isForced: boolean): Promise<void> {
    const { metadata } = this.#store.find('pods', name) ?? {}
    if (metadata?.uid === undefined) return
    this.#builds.get(name)?.abort()
    if (!isForced && this.misbehaving.hasNoNode) return
    if (isForced) this.#store.delete('pods', name)
    await this.#node.stopContainer(metadata.uid)
    this.#store.delete('pods', name)
    await this.#releaseClaims()
  }

  /** Deletes terminating claims that no pod uses any more. */
  async #releaseClaims(): Promise<void> {
    const pods = this.#store.list('pods')
    const volumes = pods.flatMap(({ spec }) => spec?.volumes ?? [])
    const used = new Set(volumes.map((volume) => volume.persistentVolumeClaim?.claimName))
    for (const { metadata } of this.#store.list('persistentvolumeclaims')) {
      const name = metadata?.name ?? ''
      if (metadata?.deletionTimestamp === undefined || used.has(name)) continue
      const isShared = this.#isShared(name)
      this.#store.delete('persistentvolumeclaims', name)
      if (isShared) await this.#node.setGitMirror(name, false)
      else await this.#node.detachVolume(name)
    }
  }

  #leave(plural: 'pods' | 'persistentvolumeclaims', name: string): void {
    const deletionTimestamp = new Date()
    const leave = <T extends { metadata?: object }>(object: T): T => ({
      ...object,
      metadata: { ...object.metadata, deletionTimestamp },
    })
    if (plural === 'pods') this.#store.update(plural, name, leave)
    else this.#store.update(plural, name, leave)
  }

  #unschedulable(name: string, message: string): void {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }]
    this.#store.update('pods', name, (pod) => ({ ...pod, status: { phase: 'Pending', conditions } }))
  }

  #setState(pod: string, container: string, state: V1ContainerState): void {
    this.#store.update('pods', pod, (object) => {
      const { spec } = object
      const isInit = spec?.initContainers?.some(({ name }) => name === container) ?? false
      const { initContainerStatuses = [], containerStatuses = [] } = object.status ?? {}
      const change = (all: V1ContainerStatus[]): V1ContainerStatus[] => [
        ...all.filter(({ name }) => name !== container),
        { name: container, state, ready: false, restartCount: 0, image: '', imageID: '' },
      ]
      const ended = state.terminated
      const isOver = ended !== undefined && (!isInit || ended.exitCode !== 0)
      const phase = isOver
        ? ended.exitCode === 0
          ? 'Succeeded'
          : 'Failed'
        : state.running
          ? 'Running'
          : 'Pending'
      return {
        ...object,
        status: {
          phase,
          initContainerStatuses: isInit ? change(initContainerStatuses) : initContainerStatuses,
          containerStatuses: isInit ? containerStatuses : change(containerStatuses),
        },
      }
    })
  }

  #say(pod: string, container: string, text: string): void {
    const key = `${pod}/${container}`
    const lines = this.#logs.get(key) ?? []
    const at = Date.now()
    for (const line of text.split('\n').filter((one) => one !== '')) {
      const nanoseconds = String(this.#nanoseconds++ % 1_000_000).padStart(6, '0')
      lines.push({ at, time: new Date(at).toISOString().replace('Z', `${nanoseconds}Z`), text: line })
    }
    this.#logs.set(key, lines)
  }
}

/** Reads `$$` as `$`; variables are not expanded, because the driver uses none. */
const expand = (text: string) => text.replaceAll('$$', () => '$')
