// The permissions of a workflow's token: those at the top of its file, limited to the requested ones.
import { findEntry, plainValue, type SourceNode } from '@millrace/engine/source.ts'
import { parseSource } from '@millrace/engine/yaml.ts'
import type { WorkflowTokenRequest } from '@millrace/protocol/secrets.ts'
import type { Permissions } from '../../source-hosts/host.ts'

const names = [
  'actions',
  'artifact_metadata',
  'attestations',
  'checks',
  'contents',
  'deployments',
  'discussions',
  'issues',
  'packages',
  'pages',
  'pull_requests',
  'security_events',
  'statuses',
] as const

type Read<Value> = { ok: true; value: Value } | { ok: false; reason: string }

const no = (reason: string) => ({ ok: false, reason }) as const

export interface WorkflowRequest {
  repository: string
  workflow: string
  permissions: Permissions
}

export function readWorkflowRequest(body: WorkflowTokenRequest): Read<WorkflowRequest> {
  const { repo_url: repository, workflow, permissions } = body
  if (typeof repository !== 'string' || repository === '') return no('repo_url is missing.')
  if (typeof workflow !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}\.ya?ml$/.test(workflow)) {
    return no('workflow must be the name of a file in .github/workflows, such as ci.yml.')
  }
  const wanted = Object.entries(Object(permissions) as Record<string, unknown>)
  if (wanted.length === 0)
    return no('permissions must say what the token is for, such as {"contents": "read"}.')
  for (const [name, level] of wanted) {
    if (!isName(name)) return no(`permissions: ${name.slice(0, 50)} is not one of ${names.join(', ')}.`)
    if (level !== 'read' && level !== 'write') return no(`permissions: ${name} must be read or write.`)
  }
  const checked = Object.fromEntries(wanted) as Permissions
  return { ok: true, value: { repository, workflow, permissions: checked } }
}

const isName = (name: string): name is (typeof names)[number] => (names as readonly string[]).includes(name)

export const mostWorkflowBytes = 512 * 1024

/** A file without permissions grants reading the repository. */
export function grantsOf(text: string): Read<Permissions> {
  const parsed = parseSource(text, mostWorkflowBytes)
  if (!parsed.ok) return no(`it cannot be read: ${parsed.problem.message}`)
  const [document, another] = parsed.documents
  if (document?.kind !== 'map' || another !== undefined) return no('it is not a workflow')
  const entry = findEntry(document, 'permissions')
  return entry === undefined ? { ok: true, value: { contents: 'read' } } : readGrants(entry.value)
}

function readGrants(node: SourceNode): Read<Permissions> {
  const value = plainValue(node)
  if (value === 'read-all') {
    return { ok: true, value: Object.fromEntries(names.map((name) => [name, 'read'] as const)) }
  }
  if (value === 'write-all') return no('its permissions are write-all; they must be named one by one')
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return no('its permissions are neither a map nor read-all')
  }
  const granted = Object.entries(value as Record<string, unknown>).flatMap(([key, level]) => {
    const name = key.replaceAll('-', '_')
    return isName(name) && (level === 'read' || level === 'write') ? [[name, level] as const] : []
  })
  return { ok: true, value: Object.fromEntries(granted) }
}

/** The first requested permission that is not granted, as text; null: all are granted. */
export function beyond(wanted: Permissions, granted: Permissions): string | null {
  const excess = Object.entries(wanted).find(
    ([name, level]) => granted[name] !== 'write' && granted[name] !== level,
  )
  return excess === undefined ? null : excess.join(': ')
}
