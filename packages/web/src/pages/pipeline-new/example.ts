/** A build's first step then takes the steps from the commit that is built. */
export const repositorySteps = `steps:
  - label: ":pipeline:"
    command: buildkite-agent pipeline upload
`

/** A file for the repository, and steps to begin with here. They pass in every repository. */
export const exampleSteps = `steps:
  - label: ":test_tube: Test"
    key: test
    command: echo "Put the command that tests your project here"

  - wait

  - block: "Deploy?"
    branches: main

  - label: ":rocket: Deploy"
    branches: main
    command: echo "Put the command that deploys your project here"
`
