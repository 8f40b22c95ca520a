import { Type } from 'typebox'
import { text, Timestamp } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

export const DeployKey = Type.Object(
  {
    public_key: text('To be registered at the host of the repository, as a key that may only read.'),
    fingerprint: text('As the host shows it.'),
    created_at: Timestamp,
    created_by: UserOrNull,
  },
  { title: 'DeployKey' },
)
