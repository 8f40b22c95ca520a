import { Type } from 'typebox'
import { orNull, text } from '../../schema.ts'

export const Repository = Type.Object(
  {
    full_name: text('With its owner, as in `acme/app`.'),
    html_url: text('Where people see the repository.'),
    clone_url: text('The address over http, as a pipeline takes it for `repository`.'),
    default_branch: orNull(text('Null for an empty repository.')),
  },
  { title: 'Repository' },
)
