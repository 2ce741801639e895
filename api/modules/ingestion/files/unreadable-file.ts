/** What ends a file as ERROR: its message tells the uploader what to change. Anything else that is thrown is tried again. */
export class UnreadableFile extends Error {}
