import { Type } from 'typebox'
import { refused } from '../../lib/errors.ts'
import { maybe, Short } from '../fields.ts'
import type { RepositoryApi } from '../host.ts'
import { repositoryReader, WebUrl } from '../repositories.ts'
import { locate } from '../settings.ts'
import { repositoryPath } from '../status.ts'
import { apiPath } from './address.ts'

/** Servers since 2022 have it too. */
export const version = 'api-version=7.0'

const Repository = Type.Object({ remoteUrl: Short, webUrl: WebUrl, defaultBranch: maybe(Short) })

/** The list has no pages. `workspace` is an organization or collection, perhaps with a project after a slash. */
export const repositories: RepositoryApi = {
  listPath({ page, search, workspace }) {
    if (workspace === null) {
      throw refused('workspace is required: Azure DevOps lists the repositories of one organization.')
    }
    if (search !== null) throw refused('Azure DevOps cannot search repositories by name.')
    if (page > 1) throw refused('Azure DevOps lists all repositories on the first page.')
    return `/${repositoryPath(workspace)}/_apis/git/repositories?${version}`
  },
  findPath: (fullName) => `${apiPath(fullName) ?? `/${repositoryPath(fullName)}`}?${version}`,
  ...repositoryReader(Repository, 'value', ({ remoteUrl, webUrl, defaultBranch }) => ({
    full_name: locate(remoteUrl)?.path ?? remoteUrl,
    html_url: webUrl,
    clone_url: remoteUrl.replace(/^(https:\/\/)[^@/]*@/, '$1'),
    default_branch: defaultBranch?.replace(/^refs\/heads\//, '') || null,
  })),
}
