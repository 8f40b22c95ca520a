import type { CodeOwnersApi } from '../host.ts'
import { withQuery } from '../repositories.ts'

export const codeOwners: CodeOwnersApi = {
  dialect: 'gitlab',
  paths: ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'],
  fileRequest(repository, path, commit) {
    const file = `/projects/${encodeURIComponent(repository)}/repository/files/${encodeURIComponent(path)}/raw`
    return { method: 'GET', path: withQuery(file, { ref: commit }) }
  },
  headers: { Accept: '*/*' },
}
