// Addresses of repositories: `https://host/scm/proj/repo.git` and `ssh://git@host:7999/proj/repo.git`, perhaps below the path
// of the host.
import { Type, type Static } from 'typebox'
import { maybe, Number, Short } from '../fields.ts'

const Links = Type.Array(Type.Object({ href: maybe(Short), name: maybe(Short) }))

export const Repository = Type.Object({
  id: maybe(Number),
  slug: Short,
  project: Type.Object({ key: Short }),
  links: maybe(Type.Object({ self: maybe(Links), clone: maybe(Links) })),
})
export type Repository = Static<typeof Repository>

export const nameOf = ({ project, slug }: Repository): string => `${project.key}/${slug}`

/** Below the address of the API; `repository` is a path or a name, and ends with the project and the repository. */
export function apiPath(repository: string): string {
  const [project = '', slug = ''] = repository.split('/').slice(-2)
  return `/projects/${encodeURIComponent(project)}/repos/${encodeURIComponent(slug)}`
}

export const cloneAddress = ({ links }: Repository, name: 'http' | 'ssh'): string | null =>
  links?.clone?.find((link) => link.name === name)?.href ?? null

/** Empty where an old server says nowhere which host it is. */
export function addressesOf(repository: Repository): string[] {
  const clone = repository.links?.clone?.flatMap(({ href }) => href ?? []) ?? []
  if (clone.length > 0) return clone
  const self = repository.links?.self?.[0]?.href ?? ''
  const root = /^(https?:\/\/[^?#]+?)\/(?:projects|users)\/[^/]+\/repos\/[^/]+(?:\/browse)?\/?$/.exec(
    self,
  )?.[1]
  if (root === undefined) return []
  const name = nameOf(repository)
  return [`${root}/scm/${name}.git`, `ssh://git@${new URL(root).hostname}/${name}.git`]
}
