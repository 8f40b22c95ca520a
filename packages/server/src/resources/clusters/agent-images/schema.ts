import { Type, type Static } from 'typebox'
import { orNull } from '../../schema.ts'

export const AgentImage = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: Type.Union([Type.Literal('BUILDING'), Type.Literal('READY'), Type.Literal('FAILED')]),
    image_ref: orNull(Type.String({ description: 'Once built, the value of a queue’s agentImageRef.' })),
    version: Type.Integer(),
    last_build_error: orNull(
      Type.String({ description: 'Why the build failed, after the last lines that its command wrote.' }),
    ),
    dockerfile: Type.String({ description: 'What was sent, without the FROM line.' }),
    base_image: Type.String({ description: 'The FROM line that stands before every image.' }),
    composed_dockerfile: Type.String(),
    url: Type.String(),
    log_url: Type.String({ description: 'What the builder has said.' }),
    web_url: Type.String(),
    cluster_url: Type.String(),
  },
  { title: 'AgentImage' },
)

export const CreateAgentImage = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', description: 'must not be blank' }),
    dockerfile: Type.String({ maxLength: 100_000 }),
  },
  {
    title: 'CreateAgentImage',
    examples: [{ name: 'node', dockerfile: 'RUN apt-get update && apt-get install -y nodejs' }],
  },
)

export const AgentImageLog = Type.Object(
  {
    url: Type.String(),
    content: Type.String({ description: 'What the builder has said so far, of the latest attempt.' }),
    size: Type.Integer({ description: 'Bytes of the content.' }),
  },
  { title: 'AgentImageLog' },
)

export type CreateAgentImageBody = Static<typeof CreateAgentImage>
