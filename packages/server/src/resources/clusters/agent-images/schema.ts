import { Type, type Static } from 'typebox'
import { integer, oneOf, orNull, text } from '../../schema.ts'

export const AgentImage = Type.Object(
  {
    id: text('Id of the image: letters and digits.'),
    name: Type.String(),
    status: oneOf(
      ['BUILDING', 'READY', 'FAILED'],
      'Whether the image is being built, ready, or failed to build.',
    ),
    image_ref: orNull(text('Once built, the value of a queue’s agentImageRef.')),
    version: integer('How often an image of this name was built.'),
    last_build_error: orNull(
      text(
        'Why the build failed, after the last lines that its command wrote. While it is being built: why the last attempt did not succeed.',
      ),
    ),
    dockerfile: text('What was sent, without the FROM line.'),
    base_image: text('The FROM line that stands before every image.'),
    composed_dockerfile: text('The whole text that is built: `base_image`, a newline and `dockerfile`.'),
    url: Type.String(),
    log_url: text('What the builder has said.'),
    web_url: Type.String(),
    cluster_url: Type.String(),
  },
  { title: 'AgentImage' },
)

export const CreateAgentImage = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '\\S',
      description: 'Name, for people. Must not be blank.',
    }),
    dockerfile: Type.String({
      maxLength: 100_000,
      description: 'Instructions of the image, without the FROM line.',
    }),
  },
  {
    title: 'CreateAgentImage',
    examples: [{ name: 'node', dockerfile: 'RUN apt-get update && apt-get install -y nodejs' }],
  },
)

export const AgentImageLog = Type.Object(
  {
    url: text('Address of this log in the API.'),
    content: text('What the builder has said so far, of the latest attempt.'),
    size: integer('Bytes of the content.'),
  },
  { title: 'AgentImageLog' },
)

export type CreateAgentImageBody = Static<typeof CreateAgentImage>
