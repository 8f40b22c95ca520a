import { Type } from 'typebox'
import { refused } from '../../lib/errors.ts'
import { maybe, Short } from '../fields.ts'
import type { RepositoryApi } from '../host.ts'
import { repositoryReader, WebUrl, withQuery } from '../repositories.ts'
import { repositoryPath } from '../status.ts'

const Repository = Type.Object({
  full_name: Short,
  links: Type.Object({
    html: Type.Object({ href: WebUrl }),
    clone: Type.Array(Type.Object({ name: Short, href: Short })),
  }),
  mainbranch: maybe(Type.Object({ name: Short })),
})

/** The list over all workspaces is deprecated. */
export const repositories: RepositoryApi = {
  listPath({ page, perPage, search, workspace }) {
    if (workspace === null) {
      throw refused('workspace is required: Bitbucket lists the repositories of one workspace.')
    }
    const q = search === null ? null : `full_name ~ ${JSON.stringify(search)}`
    return withQuery(`/repositories/${repositoryPath(workspace)}`, {
      q,
      sort: 'full_name',
      pagelen: perPage,
      page,
    })
  },
  findPath: (fullName) => `/repositories/${repositoryPath(fullName)}`,
  ...repositoryReader(Repository, 'values', ({ full_name, links, mainbranch }) => ({
    full_name,
    html_url: links.html.href,
    clone_url: links.clone.find(({ name }) => name === 'https')?.href ?? links.html.href,
    default_branch: mainbranch?.name ?? null,
  })),
}
