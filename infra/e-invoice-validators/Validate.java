import com.helger.commons.io.resource.FileSystemResource;
import com.helger.phive.api.execute.ValidationExecutionManager;
import com.helger.phive.api.executorset.IValidationExecutorSet;
import com.helger.phive.api.executorset.ValidationExecutorSetRegistry;
import com.helger.phive.api.validity.IValidityDeterminator;
import com.helger.phive.en16931.EN16931Validation;
import com.helger.phive.xml.source.IValidationSourceXML;
import com.helger.phive.xml.source.ValidationSourceXML;
import java.io.File;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.util.Locale;

/**
 * Validates e-invoices in one process: UBL with the schemas and rules of EN 16931 in phive, Factur-X with Mustang, which also
 * validates PDF/A. Arguments: the jar of Mustang, then files. Writes one line for each fault; nothing means all are valid.
 */
public class Validate {
  private static PrintStream out;

  public static void main(String[] args) throws Exception {
    out = System.out;
    // The validators log to the same stream.
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    var registry = new ValidationExecutorSetRegistry<IValidationSourceXML>();
    EN16931Validation.initEN16931(registry);
    var mustang = new URLClassLoader(new URL[] {new File(args[0]).toURI().toURL()}, ClassLoader.getPlatformClassLoader());
    for (int i = 1; i < args.length; i++) {
      File file = new File(args[i]);
      if (file.getName().endsWith(".pdf")) facturX(mustang, file);
      else ubl(registry, file);
    }
    out.println("VALIDATED " + (args.length - 1));
    System.exit(0);
  }

  private static void ubl(ValidationExecutorSetRegistry<IValidationSourceXML> registry, File file) throws Exception {
    boolean credit = Files.readString(file.toPath()).contains("<CreditNote");
    String wanted = credit ? "ubl-creditnote" : "ubl";
    IValidationExecutorSet<IValidationSourceXML> rules = null;
    for (var set : registry.getAll()) {
      if (!set.getID().getArtifactID().equals(wanted)) continue;
      if (rules == null || rules.getID().compareTo(set.getID()) < 0) rules = set;
    }
    var source = ValidationSourceXML.create(new FileSystemResource(file));
    var results = ValidationExecutionManager.executeValidation(IValidityDeterminator.createDefault(), rules, source, Locale.ENGLISH);
    for (var result : results)
      for (var error : result.getErrorList().getAllErrors())
        out.println(file.getName() + ": " + error.getErrorID() + " " + error.getErrorText(Locale.ENGLISH) + " " + error.getErrorFieldName());
  }

  private static void facturX(ClassLoader mustang, File file) throws Exception {
    Thread.currentThread().setContextClassLoader(mustang);
    Class<?> type = Class.forName("org.mustangproject.validator.ZUGFeRDValidator", true, mustang);
    Object validator = type.getConstructor().newInstance();
    String report = (String) type.getMethod("validate", String.class).invoke(validator, file.getPath());
    if (!(boolean) type.getMethod("wasCompletelyValid").invoke(validator)) out.println(file.getName() + ": " + report.replaceAll("\\s+", " "));
  }
}
