// Compares objects with the types of Kubernetes, which its official client for Node has as data: unknown fields and wrong
// types are faults. Defaults and required fields are the API server's business.
import * as client from '@kubernetes/client-node'

interface Attribute {
  baseName: string
  type: string
}

interface TypeOfKubernetes {
  getAttributeTypeMap(): Attribute[]
}

const types = new Map<string, unknown>(Object.entries(client))

const hasAttributes = (value: unknown): value is TypeOfKubernetes =>
  typeof value === 'function' && 'getAttributeTypeMap' in value

export interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace?: string
    labels: Record<string, string>
    annotations?: Record<string, string>
  }
  [field: string]: unknown
}

/** False for objects of extensions, whose types the client does not have. */
export const isKnownKind = (object: KubernetesObject): boolean => typeFor(object) !== undefined

export function faultsOf(object: KubernetesObject): string[] {
  const type = typeFor(object)
  return type === undefined ? [`${object.kind}: unknown kind`] : compare(object, type, object.kind)
}

/** `apps/v1` Deployment is `V1Deployment`, `autoscaling/v2` HorizontalPodAutoscaler is `V2HorizontalPodAutoscaler`. */
function typeFor({ apiVersion, kind }: KubernetesObject): string | undefined {
  const [group, version = group] = apiVersion.split('/')
  const isOurs = group === version || !group?.includes('.') || group.endsWith('.k8s.io')
  const name = `${version?.charAt(0).toUpperCase()}${version?.slice(1)}${kind}`
  return isOurs && hasAttributes(types.get(name)) ? name : undefined
}

function compare(value: unknown, type: string, path: string): string[] {
  const [, item] = /^(?:Array|Set)<(.+)>$/.exec(type) ?? []
  if (item !== undefined) {
    if (!Array.isArray(value)) return [`${path} must be a list`]
    return value.flatMap((one, index) => compare(one, item, `${path}[${index}]`))
  }
  const [, entry] = /^\{ \[key: string\]: (.+); \}$/.exec(type) ?? []
  if (entry !== undefined) {
    if (!isRecord(value)) return [`${path} must be a map`]
    return Object.entries(value).flatMap(([name, one]) => compare(one, entry, `${path}.${name}`))
  }
  if (type === 'any' || type === 'object') return []
  if (type === 'IntOrString')
    return typeof value === 'number' || typeof value === 'string' ? [] : [`${path} must be a number or text`]
  if (['string', 'number', 'boolean'].includes(type))
    return typeof value === type ? [] : [`${path} must be a ${type}, not ${JSON.stringify(value)}`]
  const found = types.get(type)
  if (!hasAttributes(found)) return []
  if (!isRecord(value)) return [`${path} must be an object`]
  const attributes = new Map(found.getAttributeTypeMap().map((one) => [one.baseName, one.type]))
  return Object.entries(value).flatMap(([name, one]) => {
    const known = attributes.get(name)
    return known === undefined ? [`${path}.${name} is unknown`] : compare(one, known, `${path}.${name}`)
  })
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
