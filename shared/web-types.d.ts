// Names of the web that Node has too, such as Response and CryptoKey.
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
