import { Type, type Static } from 'typebox'
import { TeamActor, UserActor } from '../clusters/schema.ts'
import { described, text, Uuid } from '../../schema.ts'

const kind = 'Whether the actor is a user or a team.'

export const Maintainer = Type.Object(
  {
    id: Uuid,
    actor: described(
      Type.Union([
        Type.Object({ ...UserActor.properties, type: Type.Literal('user', { description: kind }) }),
        Type.Object({ ...TeamActor.properties, type: Type.Literal('team', { description: kind }) }),
      ]),
      'Who it is: a user or a team.',
    ),
  },
  { title: 'ClusterMaintainer' },
)

export const CreateMaintainer = Type.Object(
  {
    user: Type.Optional(text('UUID of a member of the organization.')),
    team: Type.Optional(text('UUID of a team of the organization.')),
  },
  { title: 'CreateClusterMaintainer', examples: [{ user: '01885682-55a7-44f5-84f3-0402fb452e66' }] },
)

export type CreateMaintainerBody = Static<typeof CreateMaintainer>
