// Makes a PDF a Factur-X document (ZUGFeRD 2): PDF/A-3 that carries its e-invoice as XML, and says so in its metadata.

/** The name that Factur-X prescribes for the XML. */
const FILE_NAME = 'factur-x.xml'

/** Attaches `xml` (CII of the profile EN 16931) to a document of the subset PDF/A-3, dated `createdAt`. */
export function attachFacturX(document: PDFKit.PDFDocument, xml: string, createdAt: Date): void {
  const inside = document as PDFKit.PDFDocument & { appendXML(xml: string): void }
  inside.file(Buffer.from(xml), {
    name: FILE_NAME,
    type: 'text/xml',
    description: 'Factur-X invoice',
    creationDate: createdAt,
    modifiedDate: createdAt,
    // The page and the XML are two forms of one invoice.
    relationship: 'Alternative',
  } as Parameters<PDFKit.PDFDocument['file']>[1])
  inside.appendXML(METADATA)
}

const PROPERTIES = [
  ['DocumentFileName', 'The name of the embedded XML document'],
  ['DocumentType', 'The type of the hybrid document in capital letters, e.g. INVOICE or ORDER'],
  ['Version', 'The actual version of the standard applying to the embedded XML document'],
  ['ConformanceLevel', 'The conformance level of the embedded XML document'],
] as const

/** PDF/A wants a schema for every property that is not its own. */
const METADATA = `
        <rdf:Description xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#" rdf:about="">
            <pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
                <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
                <pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI>
                <pdfaSchema:prefix>fx</pdfaSchema:prefix>
                <pdfaSchema:property><rdf:Seq>${PROPERTIES.map(
                  ([name, description]) => `
                    <rdf:li rdf:parseType="Resource">
                        <pdfaProperty:name>${name}</pdfaProperty:name>
                        <pdfaProperty:valueType>Text</pdfaProperty:valueType>
                        <pdfaProperty:category>external</pdfaProperty:category>
                        <pdfaProperty:description>${description}</pdfaProperty:description>
                    </rdf:li>`,
                ).join('')}
                </rdf:Seq></pdfaSchema:property>
            </rdf:li></rdf:Bag></pdfaExtension:schemas>
        </rdf:Description>
        <rdf:Description xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#" rdf:about="">
            <fx:DocumentType>INVOICE</fx:DocumentType>
            <fx:DocumentFileName>${FILE_NAME}</fx:DocumentFileName>
            <fx:Version>1.0</fx:Version>
            <fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>
        </rdf:Description>
        `
