import type { CodeOwnersApi } from '../host.ts'
import { withQuery } from '../repositories.ts'
import { repositoryPath } from '../status.ts'

export const codeOwners: CodeOwnersApi = {
  dialect: 'github',
  paths: ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'],
  fileRequest: (repository, path, commit) => ({
    method: 'GET',
    path: withQuery(`/repos/${repositoryPath(repository)}/contents/${path}`, { ref: commit }),
    permissions: { contents: 'read' },
  }),
  headers: { Accept: 'application/vnd.github.raw+json' },
}
