// Opens an issue when a branch begins to fail and closes it when the branch is fixed, in a tracker that a person has
// connected.
import { Type } from 'typebox'
import type { Provider } from '../provider.ts'
import { credential, managed } from './schemas.ts'

export const issueTracker: Provider = {
  id: 'issue_tracker',
  name: 'Issue Tracker',
  graphqlType: null,
  madeBy: 'web',
  isPinged: false,
  fields: {
    workspace_id: { ...managed, schema: Type.String() },
    workspace_name: { ...managed, schema: Type.String() },
    team_id: {
      schema: Type.String({ minLength: 1, maxLength: 255 }),
      isRequired: true,
      shown: 'full',
    },
    access_token: credential,
    refresh_token: credential,
    token_expires_at: { ...managed, schema: Type.String() },
  },
}
