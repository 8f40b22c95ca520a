// The objects of a Kubernetes API server, and its validation.
import { randomUUID } from 'node:crypto'
import type {
  V1ConfigMap,
  V1Job,
  V1ObjectMeta,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodSpec,
} from '@kubernetes/client-node'

interface Snapshot {
  metadata?: Plain<V1ObjectMeta>
  spec: { volumeSnapshotClassName: string; source: { persistentVolumeClaimName: string } }
  status?: { readyToUse: boolean; restoreSize?: string; error?: { message: string } }
}

/** Plain JSON, since the client's types are classes. */
type Plain<T> = Pick<T, keyof T>
type Stored<T> = Omit<T, 'metadata'> & { metadata?: Plain<V1ObjectMeta> }

/** By their plural, as in URLs and roles. */
export interface Kinds {
  pods: Stored<V1Pod>
  persistentvolumeclaims: Stored<V1PersistentVolumeClaim>
  configmaps: Stored<V1ConfigMap>
  secrets: Stored<{ data?: Record<string, string> }>
  jobs: Stored<V1Job>
  networkpolicies: Stored<{ spec?: object }>
  volumesnapshots: Snapshot
}
export type Plural = keyof Kinds
export type KubeObject = Kinds[Plural]

export const groups: Record<Plural, string> = {
  pods: '',
  persistentvolumeclaims: '',
  configmaps: '',
  secrets: '',
  jobs: 'batch',
  networkpolicies: 'networking.k8s.io',
  volumesnapshots: 'snapshot.storage.k8s.io',
}

/** A failure in the API's format. */
export class ApiFailure extends Error {
  readonly code: number
  readonly reason: string
  readonly about: { kind: string; name: string } | null

  constructor(code: number, reason: string, message: string, about: ApiFailure['about'] = null) {
    super(message)
    this.code = code
    this.reason = reason
    this.about = about
  }
}

export class Store {
  readonly #objects = new Map<Plural, Map<string, KubeObject>>()
  #version = 0

  list<P extends Plural>(plural: P): Array<Kinds[P]> {
    return [...this.#of(plural).values()]
  }

  find<P extends Plural>(plural: P, name: string): Kinds[P] | undefined {
    return this.#of(plural).get(name)
  }

  get<P extends Plural>(plural: P, name: string): Kinds[P] {
    const found = this.find(plural, name)
    if (found !== undefined) return found
    throw new ApiFailure(404, 'NotFound', `${plural} "${name}" not found`, { kind: plural, name })
  }

  create<P extends Plural>(plural: P, given: Kinds[P]): Kinds[P] {
    const problems = problemsOf(plural, given)
    const name = given.metadata?.name ?? ''
    if (problems.length > 0) {
      throw new ApiFailure(422, 'Invalid', `${plural} "${name}" is invalid: ${problems.join('; ')}`)
    }
    if (this.find(plural, name) !== undefined) {
      throw new ApiFailure(409, 'AlreadyExists', `${plural} "${name}" already exists`, { kind: plural, name })
    }
    const made = {
      ...given,
      metadata: { ...given.metadata, uid: randomUUID(), creationTimestamp: new Date() },
    }
    return this.put(plural, made)
  }

  /** Stores the new state of an object. */
  put<P extends Plural>(plural: P, object: Kinds[P]): Kinds[P] {
    const kept = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#version) } }
    this.#of(plural).set(kept.metadata.name ?? '', kept)
    return kept
  }

  /** Changes an object, if it still exists. */
  update<P extends Plural>(plural: P, name: string, change: (object: Kinds[P]) => Kinds[P]): void {
    const found = this.find(plural, name)
    if (found !== undefined) this.put(plural, change(found))
  }

  replace<P extends Plural>(plural: P, name: string, given: Kinds[P]): Kinds[P] {
    const { uid, creationTimestamp, resourceVersion } = this.get(plural, name).metadata ?? {}
    const asked = given.metadata?.resourceVersion
    if (asked !== undefined && asked !== resourceVersion) {
      throw new ApiFailure(409, 'Conflict', `the object ${name} has been modified`, { kind: plural, name })
    }
    return this.put(plural, {
      ...given,
      metadata: { ...given.metadata, ...(uid && { uid }), ...(creationTimestamp && { creationTimestamp }) },
    })
  }

  delete(plural: Plural, name: string): void {
    this.#of(plural).delete(name)
  }

  #of<P extends Plural>(plural: P): Map<string, Kinds[P]> {
    const found = this.#objects.get(plural) ?? new Map<string, KubeObject>()
    this.#objects.set(plural, found)
    // Each plural has objects of its kind only: create() and put() take no others.
    return found as Map<string, Kinds[P]>
  }
}

const dnsName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/
const shortName = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const labelKey = /^[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/
const labelValue = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/
const quantity = /^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/

function problemsOf(plural: Plural, object: KubeObject): string[] {
  const { name = '', labels = {}, annotations = {} } = object.metadata ?? {}
  const problems = [
    ...check(dnsName.test(name), `metadata.name "${name}"`),
    ...Object.entries(labels).flatMap(([key, value]) =>
      check(labelKey.test(key) && labelValue.test(value), `label ${key}=${value}`),
    ),
    ...check(JSON.stringify(annotations).length <= 256 * 1024, 'metadata.annotations: too long'),
  ]
  if (plural === 'pods') problems.push(...podProblems((object as V1Pod).spec))
  if (plural === 'jobs') {
    const { spec } = object as V1Job
    problems.push(...podProblems(spec?.template.spec))
    problems.push(...check(name.length <= 63, 'metadata.name: too long for the label of its pods'))
  }
  if (plural === 'persistentvolumeclaims') {
    const { spec } = object as V1PersistentVolumeClaim
    problems.push(...check((spec?.accessModes?.length ?? 0) > 0, 'spec.accessModes: required'))
    problems.push(...check(quantity.test(spec?.resources?.requests?.['storage'] ?? ''), 'spec.resources'))
  }
  return problems
}

function podProblems(spec: V1PodSpec | undefined): string[] {
  if (spec === undefined) return ['spec: required']
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name))
  const containers = [...(spec.initContainers ?? []), ...spec.containers]
  return [
    ...check(['Never', 'OnFailure', 'Always'].includes(spec.restartPolicy ?? 'Always'), 'spec.restartPolicy'),
    ...check(new Set(containers.map(({ name }) => name)).size === containers.length, 'names: duplicate'),
    ...check(volumes.size === (spec.volumes ?? []).length, 'spec.volumes: duplicate'),
    ...containers.flatMap((container) => [
      ...check(shortName.test(container.name), `container name "${container.name}"`),
      ...check(!!container.image, `image of ${container.name}: required`),
      ...(container.env ?? []).flatMap(({ name }) =>
        check(/^[-._A-Za-z][-._\w]*$/.test(name), `env "${name}"`),
      ),
      ...(container.volumeMounts ?? []).flatMap((mount) => [
        ...check(volumes.has(mount.name), `volumeMounts: "${mount.name}" not found`),
        ...check(!mount.mountPath.includes(':'), `mountPath "${mount.mountPath}"`),
      ]),
      ...check(
        new Set((container.volumeMounts ?? []).map(({ mountPath }) => mountPath)).size ===
          (container.volumeMounts ?? []).length,
        'mountPath: must be unique',
      ),
      ...[container.resources?.limits, container.resources?.requests].flatMap((amounts) =>
        Object.values(amounts ?? {}).flatMap((amount) => check(quantity.test(amount), `amount "${amount}"`)),
      ),
    ]),
  ]
}

const check = (isFine: boolean, problem: string): string[] => (isFine ? [] : [`${problem}: invalid`])
